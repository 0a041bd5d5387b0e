"""Markdown: shown with nothing of it lost."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ragforge.show.markdown import render_markdown


def shown(text: str, width: int = 40, last: int | None = None) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(render_markdown(text, last))
    return out.getvalue()


def test_what_looks_like_html_is_not_lost() -> None:
    assert shown("A `List<int>` and a Map<K, V> if 0<foo or foo>1") == (
        "A List<int> and a Map<K, V> if 0<foo or\nfoo>1\n"
    )
    assert "<div>" in shown("<div>\nhello\n</div>")


def test_code_can_be_copied_as_it_is() -> None:
    assert shown("```python\ndef f():\n    return 1\n```") == "def f():\n    return 1\n"


def test_headings_and_links_are_plain() -> None:
    assert shown("# One") == "One\n"
    assert shown("[site](http://x.y)") == "site (http://x.y)\n"


def test_the_last_lines_are_all_that_is_wanted_of_a_long_text() -> None:
    assert shown("\n".join(f"- {number}" for number in range(9)), last=2) == " • 7\n • 8\n"


def test_nothing_steers_the_terminal() -> None:
    assert "\x1b" not in shown("a \x1b[2J b")


def test_what_cannot_be_made_beautiful_is_still_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("ragforge.show.markdown_elements.MarkdownIt.parse", fail)
    assert shown("# One\n\n**two**") == "# One\n\n**two**\n"


@given(st.text(alphabet="ab*_`~#->|[]()!<&1. \n\t\\:", max_size=200))
def test_any_text_can_be_shown(text: str) -> None:
    assert all(len(line) <= 20 for line in shown(text, width=20).splitlines())
