"""Granite graph: write `adapters/embedders/granite.onnx`, the graph of the local transformer.

    python -m training.granite_graph

The graph is RoBERTa in 50 operators, half of them ONNX Runtime's own. Weights are external
initializers: the embedder passes them when it loads the model. The `onnx` package would write the
same messages; their field numbers are those of onnx.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src/ragforge/adapters/embedders/granite.onnx"
LAYERS = 6
HIDDEN = 384
WIDE = 1536
WORDS = 50_265
POSITIONS = 514
GROUP = 64
_TYPES = {"float32": 1, "int8": 3, "int32": 6, "int64": 7}


def write() -> bytes:
    """Return the model that turns `tokens`, `positions` and `mask` into `vectors`.

    Inputs are [texts, tokens] of int32; a text's vector is the state of its first token, of length
    one. Multiplications are of floats: in int8 with a scale for each group, 256 tokens take as
    long; with one scale for a batch, a vector would depend on the other texts.
    """
    nodes: list[bytes] = []

    def add(operator: str, *inputs: str, custom: bool = False, **attributes: float) -> str:
        output = f"{operator}-{len(nodes)}"
        nodes.append(_encode_node(operator, inputs, output, custom, attributes))
        return output

    def add_and_normalise(state: str, before: str, norm: str, *bias: str) -> str:
        inputs = [state, before, f"{norm}.w", f"{norm}.b", *bias]
        return add("SkipLayerNormalization", *inputs, custom=True, epsilon=1e-12)

    values = add("Cast", add("Gather", "word_emb", "tokens"), to=_TYPES["float32"])
    scaled = add("Mul", values, add("Gather", "word_emb.scales", "tokens"))
    words = add("Reshape", scaled, "merged")
    state = add_and_normalise(words, add("Gather", "pos_emb", "positions"), "emb_ln")
    for number in range(LAYERS):
        layer = f"l{number}"
        inputs = [state, f"{layer}.qkv.w", f"{layer}.qkv.b", "mask"]
        seen = add("Attention", *inputs, custom=True, num_heads=12)
        if number == LAYERS - 1:
            # Only the first token's state is wanted from the last layer.
            seen, state = (add("Gather", each, "first", axis=1) for each in (seen, state))
        seen = add("MatMul", seen, f"{layer}.ao.w")
        state = add_and_normalise(seen, state, f"{layer}.aln", f"{layer}.ao.b")
        wide = add("MatMul", state, f"{layer}.f1.w")
        wide = add("BiasGelu", wide, f"{layer}.f1.b", custom=True)
        narrow = add("MatMul", wide, f"{layer}.f2.w")
        state = add_and_normalise(narrow, state, f"{layer}.fln", f"{layer}.f2.b")
    nodes.append(_encode_node("LpNormalization", [state], "vectors", False, {"axis": 1, "p": 2}))

    given = [_encode_value(name, "int32") for name in ("tokens", "positions", "mask")]
    graph = _encode_message(
        *((1, node) for node in nodes),
        (2, "RoBERTa"),
        *((5, constant) for constant in _list_constants()),
        *((11, value) for value in given),
        (12, _encode_value("vectors", "float32")),
    )
    operators = [_encode_message((1, ""), (2, 17)), _encode_message((1, "com.microsoft"), (2, 1))]
    return _encode_message((1, 8), (7, graph), *((8, each) for each in operators))


def _list_constants() -> list[bytes]:
    weights: dict[str, tuple[int, ...]] = {
        "word_emb.scales": (WORDS, HIDDEN // GROUP, 1),
        "pos_emb": (POSITIONS, HIDDEN),
        "emb_ln.w": (HIDDEN,),
        "emb_ln.b": (HIDDEN,),
    }
    for number in range(LAYERS):
        # The operators multiply from the left: a weight is [in, out].
        for name, shape in {
            "qkv": (HIDDEN, 3 * HIDDEN),
            "ao": (HIDDEN, HIDDEN),
            "f1": (HIDDEN, WIDE),
            "f2": (WIDE, HIDDEN),
        }.items():
            weights |= {f"l{number}.{name}.w": shape, f"l{number}.{name}.b": shape[1:]}
        for name in ("aln", "fln"):
            weights |= {f"l{number}.{name}.w": (HIDDEN,), f"l{number}.{name}.b": (HIDDEN,)}
    return [
        _encode_weight("word_emb", "int8", (WORDS, HIDDEN // GROUP, GROUP)),
        *(_encode_weight(name, "float32", shape) for name, shape in weights.items()),
        _encode_constant("first", (), 0),
        _encode_constant("merged", (3,), 0, 0, -1),  # 0 keeps a dimension
    ]


def _encode_weight(name: str, kind: str, shape: Sequence[int]) -> bytes:
    sizes = [(1, size) for size in shape]
    location = _encode_message((1, "location"), (2, "none"))
    return _encode_message(*sizes, (2, _TYPES[kind]), (8, name), (13, location), (14, 1))


def _encode_constant(name: str, shape: Sequence[int], *values: int) -> bytes:
    data = struct.pack(f"<{len(values)}q", *values)
    return _encode_message(*((1, n) for n in shape), (2, _TYPES["int64"]), (8, name), (9, data))


def _encode_message(*fields: tuple[int, float | str | bytes]) -> bytes:
    return b"".join(part for number, value in fields for part in _encode_field(number, value))


def _encode_field(number: int, value: float | str | bytes) -> tuple[bytes, ...]:
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
    custom: bool,
    attributes: Mapping[str, float],
) -> bytes:
    return _encode_message(
        *((1, name) for name in inputs),
        (2, output),
        (4, operator),
        *((5, _encode_attribute(name, value)) for name, value in attributes.items()),
        (7, "com.microsoft" if custom else ""),
    )


def _encode_attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _encode_message((1, name), (3, value), (20, 2))
    return _encode_message((1, name), (2, value), (20, 1))


def _encode_value(name: str, kind: str) -> bytes:
    """Describe an input or output; its shape is left open."""
    return _encode_message((1, name), (2, _encode_message((1, _encode_message((1, _TYPES[kind]))))))


if __name__ == "__main__":
    TARGET.write_bytes(write())
