"""Diffs: changed lines with their numbers, the colours of their language and a background."""

from __future__ import annotations

import os
import re

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from ragforge.show.console import sanitise

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_SIGNS = {"+": "green", "-": "red"}
_ON_DARK = {"+": "on color(22)", "-": "on color(52)"}
_ON_LIGHT = {"+": "on color(194)", "-": "on color(224)"}
LIGHT = (7, 15)
"""The numbers of light backgrounds, as a terminal names them in COLORFGBG."""


def format_numbered_diff(diff: str, path: str, out: Console) -> list[Text]:
    """Return the hunks of a unified diff, each line with its number in the file it stands in."""
    lines = sanitise(diff.expandtabs(4)).rstrip("\n").split("\n")
    first = next((at for at, line in enumerate(lines) if _HUNK.match(line)), len(lines))
    shown: list[Text] = []
    hunk: list[str] = []
    start = (1, 1)
    for line in (*lines[first:], ""):
        found = _HUNK.match(line)
        if found is None and line:
            hunk.append(line)
            continue
        if hunk:
            shown += [Text("    ⋮", style="dim")] if shown else []
            shown += _format_hunk(hunk, start, path, out)
        hunk = []
        if found is not None:
            start = (int(found[1]), int(found[2]))
    return shown


def _format_hunk(hunk: list[str], start: tuple[int, int], path: str, out: Console) -> list[Text]:
    backgrounds = _choose_backgrounds(out)
    coloured = _colour([line[1:] for line in hunk], path, out)
    old, new = start
    rows = []
    for line, code in zip(hunk, coloured, strict=True):
        sign = line[0]
        number = old if sign == "-" else new
        old += sign != "+"
        new += sign != "-"
        row = Text.assemble((f"{number:>5} {sign} ", _SIGNS.get(sign, "dim")), code)
        if sign in backgrounds:
            row.stylize(backgrounds[sign])
        rows.append(row)
    return rows


def _colour(code: list[str], path: str, out: Console) -> list[Text]:
    """Return lines with the colours of their language, where there are colours."""
    if not (out.is_terminal and out.color_system):
        return [Text(line) for line in code]
    text = "\n".join(code)
    syntax = Syntax(text, Syntax.guess_lexer(path, text), theme="ansi_dark")
    lines = list(syntax.highlight(text).split("\n", allow_blank=True))[: len(code)]
    return lines if len(lines) == len(code) else [Text(line) for line in code]


def _choose_backgrounds(out: Console) -> dict[str, str]:
    """Return backgrounds that suit the terminal; none if it does not say how dark it is."""
    last = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    if out.color_system not in ("256", "truecolor") or not last.isdecimal():
        return {}
    return _ON_LIGHT if int(last) in LIGHT else _ON_DARK
