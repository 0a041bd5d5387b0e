"""Markdown elements: how headings and code look. Loaded late, since rich is slow to import."""

from __future__ import annotations

from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.syntax import Syntax

from ragforge.show.console import get_theme


class _Heading(Heading):
    """A heading at the left, without a box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text
        text.justify = "left"
        text.stylize("bold underline" if self.tag == "h1" else "bold")
        yield text


class _Code(CodeBlock):
    """Code as it can be copied: no frame and no spaces around it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip("\n")
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True)


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
    }


def parse_markdown(text: str) -> Markdown:
    """Return Markdown that can be rendered."""
    # rich would drop what looks like HTML: List<String> is code more often than a tag.
    parser = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")
    shown = _Markdown("", code_theme=get_theme().code, hyperlinks=False)
    shown.parsed = parser.parse(text)
    return shown
