"""Zig: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_zig_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("list.zig")
    assert found.outline.language == "zig"
    assert not found.outline.damaged
    assert found.table == [
        "module list 1-52",
        "constant MAX_ITEMS 7-7",
        "type ListError 9-13",
        "struct List 15-33",
        "  method List.init 20-23",
        "  method List.push 25-30",
        "  struct List.Node 32-32",
        "enum Mode 35-35",
        "struct Value 37-40",
        "function swap 42-46",
        "function a list holds what was pushed 48-52",
    ]


def test_the_zig_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("list.zig").imports == [
        "3: std as std",
        "5: util.zig as util",
    ]


def test_the_zig_sample_uses_these_names(sample: Sample) -> None:
    found = sample("list.zig")
    assert found.calls("List.init") == "allocator.alloc List"
    assert found.uses("List.init") == "Allocator List MAX_ITEMS"
    assert found.calls("List.push") == "self.grow util.log"
    assert found.uses("List.push") == "List ListError self.items.len MAX_ITEMS ListError.Full"


def test_the_zig_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("list.zig")
    assert found.signature("List.push") == "pub fn push(self: *List, item: u8) ListError!void"
    assert found.signature("List") == "pub const List"
    assert found.docstrings == {
        "list": "A growing list.",
        "ListError": "What can go wrong.",
        "List": "A list of items.",
        "List.push": "Adds one.",
    }
