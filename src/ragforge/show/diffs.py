"""Diffs: changed lines with their numbers, the colours of their language and a background."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from rich.console import Console
from rich.text import Text

from ragforge.show.themes import get_theme
from ragforge.show.visible import fold, make_visible, style_visible

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_HEADS = ("--- ", "+++ ", "diff ", "index ", "\\ ")
_COLOURS = {"+": "green", "-": "red"}
GUTTER = 8
"""Cells before the code of a line: its number, and whether it comes or goes."""
COLOURED_CHARS = 200_000
"""Of a hunk: colours for more would take seconds."""


class _Line(NamedTuple):
    number: int
    sign: str
    code: str


_Hunk: TypeAlias = list[_Line]


def format_diff(diff: str, path: str, out: Console, width: int | None = None) -> list[Text]:
    """Return the lines of a unified diff, each with its number in the file it stands in.

    What cannot be seen is spelt out. With a width, long lines are folded, and no row of one looks
    like another line. A text without hunks is returned as it is.
    """
    hunks, rest = _read_hunks(diff.expandtabs(4))
    rows: list[Text] = []
    for hunk in hunks:
        rows += [Text("    ⋮", style="dim")] if rows else []
        rows += _format_hunk(hunk, path, out, width)
    rows += [style_visible(line, style="dim") for line in rest]
    return [part for row in rows for part in fold(row, width)] if width else rows


def _read_hunks(diff: str) -> tuple[list[_Hunk], list[str]]:
    """Return the hunks, and what belongs to none: the headings of a diff are left out."""
    hunks: list[_Hunk] = []
    rest: list[str] = []
    old = new = old_end = new_end = 0
    for line in diff.rstrip("\n").split("\n"):
        sign, code = line[:1] or " ", line[1:]
        if sign in " +-" and (old < old_end or new < new_end):
            hunks[-1].append(_Line(old if sign == "-" else new, sign, code))
            old += sign != "+"
            new += sign != "-"
        elif found := _HUNK.match(line):
            old, new = int(found[1]), int(found[3])
            old_end, new_end = old + int(found[2] or 1), new + int(found[4] or 1)
            hunks.append([])
        elif line and not line.startswith(_HEADS):
            rest.append(line)
    return [_drop_returns(hunk) for hunk in hunks if hunk], rest


def _drop_returns(hunk: _Hunk) -> _Hunk:
    """Drop carriage returns that all lines of a file end with: they tell nothing."""
    if not all(line.code.endswith("\r") for line in hunk):
        return hunk
    return [line._replace(code=line.code[:-1]) for line in hunk]


def _format_hunk(hunk: _Hunk, path: str, out: Console, width: int | None) -> list[Text]:
    theme = get_theme()
    has_backgrounds = out.color_system in ("256", "truecolor")
    styles = {"+": theme.added, "-": theme.removed} if has_backgrounds else _COLOURS
    rows: list[Text] = []
    for line, code in zip(hunk, _colour(hunk, path, out, has_backgrounds), strict=True):
        style = styles.get(line.sign, "")
        parts = fold(code, max(1, width - GUTTER)) if width else [code]
        for at, part in enumerate(parts):
            row = Text(style=style)
            row.append(f"{line.number:>5} " if not at else " " * 6, style="dim")
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


def _colour(hunk: _Hunk, path: str, out: Console, all_lines: bool) -> Iterator[Text]:
    """Yield code with the colours of its language where there are colours, and signs set off."""
    marked = [style_visible(line.code) for line in hunk]
    text = "\n".join(make_visible(line.code) for line in hunk)
    if not (out.is_terminal and out.color_system) or len(text) > COLOURED_CHARS:
        yield from marked
        return
    from rich.syntax import Syntax  # not before the first diff

    syntax = Syntax(text, Syntax.guess_lexer(path, text), theme=get_theme().code)
    coloured = list(syntax.highlight(text).split("\n", allow_blank=True))
    coloured += [Text()] * (len(hunk) - len(coloured))
    for line, plain, code in zip(hunk, marked, coloured, strict=False):
        if not (all_lines or line.sign == " ") or code.plain != plain.plain:
            yield plain
            continue
        code.style = ""
        code.spans.extend(plain.spans)
        yield code
