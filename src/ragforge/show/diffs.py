"""Diffs: changed lines with their numbers, the colours of their language and a background."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from ragforge.show.console import colour_lines, get_theme, is_for_reader
from ragforge.show.hunks import Line, read_hunks
from ragforge.show.visible import fold, make_visible, style_visible

_COLOURS = {"+": "green", "-": "red"}
_WORDS = {"+": "added", "-": "removed", " ": "line"}
"""Instead of signs, which a screen reader may pass over."""
GUTTER = 8
"""Cells before the code of a line: its number and its sign."""
COLOURED_CHARS = 200_000
"""Maximum for a hunk: colours for more would take seconds."""


def format_diff(diff: str, path: str, out: Console, width: int | None = None) -> list[Text]:
    """Return the lines of a unified diff with their numbers in the file.

    Invisible characters are spelt out. With a width, long lines are folded, and no row of one
    looks like another line. A text without hunks is returned as it is.
    """
    hunks, rest = read_hunks(diff.expandtabs(4))
    rows: list[Text] = []
    for hunk in hunks:
        rows += [Text("..." if is_for_reader() else "    ⋮", style="dim")] if rows else []
        rows += _format_hunk(_drop_returns(hunk.lines), path, out, width)
    rows += [style_visible(line, style="dim") for line in rest]
    return [part for row in rows for part in fold(row, width)] if width else rows


def _drop_returns(lines: Sequence[Line]) -> Sequence[Line]:
    """Drop the carriage returns if all lines end with one."""
    if not all(line.text.endswith("\r") for line in lines):
        return lines
    return [line._replace(text=line.text[:-1]) for line in lines]


def _format_hunk(hunk: Sequence[Line], path: str, out: Console, width: int | None) -> list[Text]:
    theme = get_theme()
    has_backgrounds = out.color_system in ("256", "truecolor")
    styles = {"+": theme.added, "-": theme.removed} if has_backgrounds else _COLOURS
    rows: list[Text] = []
    for line, code in zip(hunk, _colour(hunk, path, out, has_backgrounds), strict=True):
        style = styles.get(line.sign, "")
        parts = fold(code, max(1, width - GUTTER)) if width else [code]
        for at, part in enumerate(parts):
            row = Text(style=style)
            number = (line.old if line.sign == "-" else line.new) or ""
            if is_for_reader():
                row.append("" if at else f"{_WORDS[line.sign]} {number}: ")
            else:
                row.append(f"{number:>5} " if not at else " " * 6, style="dim")
                row.append(f"{line.sign if not at else ' '} ", style=_COLOURS.get(line.sign, ""))
            rows.append(row.append_text(part))
    return _fill(rows) if has_backgrounds and width else rows


def _fill(rows: list[Text]) -> list[Text]:
    """Make all backgrounds as wide as the longest row."""
    widest = max(row.cell_len for row in rows)
    for row in rows:
        if row.style:
            row.pad_right(widest - row.cell_len)
    return rows


def _colour(hunk: Sequence[Line], path: str, out: Console, all_lines: bool) -> Iterator[Text]:
    """Yield code with the colours of its language where there are colours, and signs set off."""
    marked = [style_visible(line.text) for line in hunk]
    code = [make_visible(line.text) for line in hunk]
    if not (out.is_terminal and out.color_system) or sum(map(len, code)) > COLOURED_CHARS:
        yield from marked
        return
    for line, plain, coloured in zip(hunk, marked, colour_lines(code, path), strict=True):
        if not (all_lines or line.sign == " ") or coloured.plain != plain.plain:
            yield plain
            continue
        coloured.style = ""
        coloured.spans.extend(plain.spans)
        yield coloured
