"""Allowance: a file may cost little more than ordinary code of its size."""

from __future__ import annotations

import pytest

from ragforge.brain.parse import tree
from ragforge.brain.parse.read_source import parse
from ragforge.brain.parse.tree import is_repetitive

CODE = "class Cart:\n    def total(self):\n        return sum(self.prices)\n" * 10


def test_a_file_that_takes_too_much_time_is_stored_as_plain_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert parse("cart.py", CODE).reduced is None
    monkeypatch.setattr(tree, "SECONDS", -1.0)

    outline = parse("cart.py", CODE)

    assert outline.reduced == "costly"
    assert [(one.type, one.start_line, one.end_line) for one in outline.definitions] == [
        ("chunk", 1, 30)
    ]


def test_the_time_is_checked_while_lost_definitions_are_recovered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0] * 6)  # until all is parsed
    monkeypatch.setattr(tree.time, "thread_time", lambda: next(clock, 100.0))

    assert parse("cart.js", "function a( {\n").reduced == "costly"


@pytest.mark.parametrize("text", ["!" * 500, f"class Cart {{ int a; {') ' * 500} }}"], ids=len)
def test_the_parts_of_a_large_error_are_not_searched(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    assert parse("Cart.java", text).reduced is None
    monkeypatch.setattr(tree, "_MAX_IN_ERROR", 100)

    assert parse("Cart.java", text).reduced == "costly"


def test_a_deep_file_is_outlined_down_to_a_limit() -> None:
    deep = parse("deep.js", f"function y() {{ {'x.b(' * 30_000} {')' * 30_000} }}\n")

    assert deep.reduced == "depth"
    assert [one.name for one in deep.definitions] == ["deep", "y"]
    assert parse("deep.hs", f"x = (a{'.b()' * 3_000})\n").reduced is None


@pytest.mark.parametrize(
    "pattern", ["a=>", "x.b()", "\n .b()\n", "(", "/*", "a<", "a</*;*/", "if a {"]
)
def test_a_text_that_repeats_a_pattern_is_repetitive_wherever_it_is(pattern: str) -> None:
    assert is_repetitive((CODE + pattern * 2_000 + CODE).encode())


def test_words_do_not_hide_that_a_text_is_repetitive() -> None:
    assert is_repetitive("".join(f"name{number**3}=>" for number in range(2_000)).encode())


def test_code_is_not_repetitive() -> None:
    for module in (tree, pytest):
        assert module.__file__ is not None
        with open(module.__file__, "rb") as file:
            assert not is_repetitive(file.read())
