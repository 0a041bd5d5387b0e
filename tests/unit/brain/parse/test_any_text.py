"""Any text in any language has an outline whose ranges hold."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragforge.brain.languages.table import detect_language
from ragforge.brain.parse.outline import Outline
from ragforge.brain.parse.read_source import parse

_SAMPLES = Path(__file__).parents[1] / "samples"
_OUTSIDE_OF_THEIR_TYPE = {"go", "cpp", "lua", "javascript", "typescript", "tsx", "kotlin"}
"""Languages in which a method may stand outside of the type that is its parent."""


@cache
def _sample(name: str) -> str:
    return (_SAMPLES / name).read_text(encoding="utf-8")


def _sample_names() -> list[str]:
    return sorted(path.name for path in _SAMPLES.iterdir())


def _check(outline: Outline, text: str) -> None:
    line_count = text.count("\n") + (not text.endswith("\n"))
    previous = 0
    for index, found in enumerate(outline.definitions):
        assert 1 <= found.start_line <= found.end_line <= line_count
        assert found.start_line >= previous
        previous = found.start_line
        assert found.name
        assert found.qualified_name
        assert "\n" not in found.signature
        assert len(found.signature) <= 300
        assert len(found.docstring) <= 2_000
        for names in (found.calls, found.uses):
            assert len(set(names)) == len(names)
            assert all(1 <= len(name.split(".")) <= 4 for name in names)
        if found.parent is not None:
            assert found.parent != index
            if outline.language not in _OUTSIDE_OF_THEIR_TYPE:
                parent = outline.definitions[found.parent]
                assert found.parent < index
                assert parent.start_line <= found.start_line
                assert found.end_line <= parent.end_line
    for imported in outline.imports:
        assert 1 <= imported.line <= line_count


@pytest.mark.parametrize("name", _sample_names())
@given(st.text(max_size=200))
@settings(derandomize=True)
def test_any_text_has_an_outline_in_every_language(name: str, text: str) -> None:
    _check(parse(name.removesuffix(".txt"), text), text)


@pytest.mark.parametrize("name", _sample_names())
@given(st.data())
@settings(derandomize=True)
def test_a_file_with_something_torn_out_or_put_in_has_an_outline(
    name: str, data: st.DataObject
) -> None:
    text = _sample(name)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 200)))
    put_in = data.draw(st.sampled_from(["", "{", "}", '"', "'''", "(", "/*", "\n", "\0", "é", "#"]))
    torn = text[:start] + put_in + text[end:]
    _check(parse(name.removesuffix(".txt"), torn), torn)


@pytest.mark.parametrize("name", _sample_names())
def test_every_beginning_of_a_file_has_an_outline(name: str) -> None:
    text = _sample(name)
    for end in range(0, len(text), 97):
        _check(parse(name.removesuffix(".txt"), text[:end]), text[:end])


def test_every_parsed_language_has_a_sample() -> None:
    sampled = {detect_language(name.removesuffix(".txt")) for name in _sample_names()}
    assert sampled == {
        "bash",
        "c",
        "cpp",
        "csharp",
        "elixir",
        "go",
        "haskell",
        "java",
        "javascript",
        "kotlin",
        "lua",
        "markdown",
        "php",
        "python",
        "ruby",
        "rust",
        "scala",
        "swift",
        "tsx",
        "typescript",
        "zig",
        "yaml",
    }
