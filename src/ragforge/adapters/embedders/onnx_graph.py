"""ONNX graph: RoBERTa written down for ONNX Runtime.

There are 50 operators, half of them ONNX Runtime's own. A library to write them with
would be larger than the model.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ragforge.adapters.embedders.granite import EPSILON, HEADS, LAYERS, SCALES, WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragforge.adapters.embedders.granite import Array

_Attribute: TypeAlias = int | float


def write(tensors: Mapping[str, Array]) -> bytes:
    """Return the model that turns `tokens`, `positions` and `mask` into `vectors`.

    Those are [texts, tokens] of int32; a text's vector is the state of its first token, of length
    one. The multiplications are of floats: in int8, with a scale for each group as the weights have
    them, 256 tokens take as long, and with one a batch a vector would depend on its neighbours.
    """
    nodes: list[bytes] = []

    def add(operator: str, *inputs: str, own: bool = False, **attributes: _Attribute) -> str:
        output = f"{operator}-{len(nodes)}"
        nodes.append(_encode_node(operator, inputs, output, own, attributes))
        return output

    def settle(state: str, before: str, norm: str, *bias: str) -> str:
        """Add two states, and normalise the sum."""
        inputs = [state, before, f"{norm}.w", f"{norm}.b", *bias]
        return add("SkipLayerNormalization", *inputs, own=True, epsilon=EPSILON)

    values = add("Cast", add("Gather", WORDS, "tokens"), to=_TYPES["float32"])
    scaled = add("Mul", values, add("Gather", SCALES, "tokens"))
    words = add("Reshape", scaled, "merged")
    state = settle(words, add("Gather", "pos_emb", "positions"), "emb_ln")
    for number in range(LAYERS):
        layer = f"l{number}"
        inputs = [state, f"{layer}.qkv.w", f"{layer}.qkv.b", "mask"]
        seen = add("Attention", *inputs, own=True, num_heads=HEADS)
        if number == LAYERS - 1:
            # Of the last layer only the first token's state is wanted.
            seen, state = (add("Gather", each, "first", axis=1) for each in (seen, state))
        seen = add("MatMul", seen, f"{layer}.ao.w")
        state = settle(seen, state, f"{layer}.aln", f"{layer}.ao.b")
        wide = add("MatMul", state, f"{layer}.f1.w")
        wide = add("BiasGelu", wide, f"{layer}.f1.b", own=True)
        narrow = add("MatMul", wide, f"{layer}.f2.w")
        state = settle(narrow, state, f"{layer}.fln", f"{layer}.f2.b")
    nodes.append(_encode_node("LpNormalization", [state], "vectors", False, {"axis": 1, "p": 2}))

    given = [_encode_value(name, "int32") for name in ("tokens", "positions", "mask")]
    graph = _encode_message(
        *((1, node) for node in nodes),
        (2, "RoBERTa"),
        *((5, _encode_tensor(name, array)) for name, array in _make_constants(tensors).items()),
        *((11, value) for value in given),
        (12, _encode_value("vectors", "float32")),
    )
    operators = [_encode_message((1, ""), (2, 17)), _encode_message((1, "com.microsoft"), (2, 1))]
    return _encode_message((1, 8), (7, graph), *((8, each) for each in operators))


def _make_constants(tensors: Mapping[str, Array]) -> dict[str, Array | NDArray[np.int64]]:
    import numpy as np

    # A weight is [out, in] in the pack; the operators multiply from the other side.
    constants: dict[str, Array | NDArray[np.int64]] = {
        name: array.T if array.ndim == 2 else array for name, array in tensors.items()
    }
    # A text is one segment, so that each position comes with that segment's vector.
    constants["pos_emb"] = tensors["pos_emb"] + tensors["type_emb"][0]
    del constants["type_emb"]
    constants["first"] = np.array(0, np.int64)
    constants["merged"] = np.array([0, 0, -1], np.int64)  # 0 keeps a dimension
    return constants


# What follows writes ONNX's messages. Their numbers are those of onnx.proto.

_TYPES = {"float32": 1, "int8": 3, "int32": 6, "int64": 7}


def _encode_message(*fields: tuple[int, int | float | str | bytes]) -> bytes:
    return b"".join(part for number, value in fields for part in _encode_field(number, value))


def _encode_field(number: int, value: int | float | str | bytes) -> tuple[bytes, ...]:
    if isinstance(value, int):
        return _encode_varint(number << 3), _encode_varint(value)
    if isinstance(value, float):
        return _encode_varint(number << 3 | 5), struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _encode_varint(number << 3 | 2), _encode_varint(len(data)), data


def _encode_varint(number: int) -> bytes:
    low = bytearray()
    while number > 0x7F:
        low.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*low, number])


def _encode_node(
    operator: str,
    inputs: Sequence[str],
    output: str,
    own: bool,
    attributes: Mapping[str, _Attribute],
) -> bytes:
    return _encode_message(
        *((1, name) for name in inputs),
        (2, output),
        (4, operator),
        *((5, _encode_attribute(name, value)) for name, value in attributes.items()),
        (7, "com.microsoft" if own else ""),
    )


def _encode_attribute(name: str, value: _Attribute) -> bytes:
    if isinstance(value, int):
        return _encode_message((1, name), (3, value), (20, 2))
    return _encode_message((1, name), (2, value), (20, 1))


def _encode_value(name: str, kind: str) -> bytes:
    """Describe an input or output; its shape is left open."""
    return _encode_message((1, name), (2, _encode_message((1, _encode_message((1, _TYPES[kind]))))))


def _encode_tensor(name: str, array: Array | NDArray[np.int64]) -> bytes:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return _encode_message(
        *((1, size) for size in array.shape),
        (2, _TYPES[array.dtype.name]),
        (8, name),
        (9, little.tobytes()),
    )
