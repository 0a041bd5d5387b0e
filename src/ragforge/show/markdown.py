"""Markdown: what a model writes, rendered with nothing lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text

from ragforge.show.console import sanitise
from ragforge.show.themes import get_theme


class RenderedMarkdown:
    """Markdown without empty space around it; perhaps only its last lines."""

    def __init__(self, text: str, last: int | None) -> None:
        self._text = sanitise(text)
        self._last = last

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = [[*_trim(line)] for line in self._lines(console, options)]
        while lines and not lines[-1]:
            lines.pop()
        while lines and not lines[0]:
            lines.pop(0)
        if self._last is not None:
            lines = lines[-self._last :] if self._last else []
        for line in lines:
            yield from line
            yield Segment.line()

    def _lines(self, console: Console, options: ConsoleOptions) -> list[list[Segment]]:

        try:
            return console.render_lines(parse_markdown(self._text), options, pad=False)
        except Exception:  # what cannot be rendered must still be readable
            return console.render_lines(Text(self._text), options, pad=False)


def render_markdown(text: str, last: int | None = None) -> RenderedMarkdown:
    """Return Markdown as it is shown, or only its last lines."""
    return RenderedMarkdown(text, last)


def dim_text(text: str) -> Text:
    """Return text in a faint colour."""
    return Text(sanitise(text), style="dim")


def _trim(line: Iterable[Segment]) -> Iterator[Segment]:
    kept = list(line)
    while kept and not kept[-1].text.strip():
        kept.pop()
    if kept:
        last = kept[-1]
        kept[-1] = Segment(last.text.rstrip(), last.style, last.control)
    yield from kept


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
