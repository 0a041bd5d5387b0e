"""Markdown: what a model writes, rendered with nothing lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from ragforge.show.console import is_for_reader, sanitise


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
        from ragforge.show.markdown_elements import parse_markdown  # not before the first answer

        try:
            return console.render_lines(parse_markdown(self._text), options, pad=False)
        except Exception:  # what cannot be rendered must still be readable
            return console.render_lines(Text(self._text), options, pad=False)


def render_markdown(text: str, last: int | None = None) -> RenderableType:
    """Return Markdown as it is shown, or only its last lines.

    A screen reader reads it as it was written: without bullets, rules and tables out of symbols.
    """
    if is_for_reader():
        return Text(sanitise(text).strip("\n"))
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
