"""Hunks: a unified diff as lines with their signs and numbers.

Apart from `diffs`, because an editor and the web page have no use for the colours of a terminal.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_HEADS = (
    *("--- ", "+++ ", "diff ", "index ", "\\ ", "old mode", "new mode"),
    *("new file", "deleted file", "similarity ", "rename "),
)


class Line(NamedTuple):
    """A line of a hunk; a number is 0 where it is not known."""

    sign: str  # " ", "-" or "+"
    old: int  # its number before the change
    new: int  # and after it
    text: str


class Hunk(NamedTuple):
    """Lines that follow each other; the heading is empty if it has no numbers."""

    heading: str
    lines: list[Line]


def read_hunks(diff: str) -> tuple[list[Hunk], list[str]]:
    """Return the hunks of a diff, and the lines outside of them other than its headings."""
    hunks: list[Hunk] = []
    rest: list[str] = []
    old = new = old_end = new_end = 0
    has_numbers = True
    for line in diff.rstrip("\n").split("\n"):
        sign, text = line[:1] or " ", line[1:]
        if sign in " +-" and (old < old_end or new < new_end):
            hunks[-1].lines.append(Line(sign, old, new, text))
            old += sign != "+"
            new += sign != "-"
        elif found := _HUNK.match(line):
            old, new, has_numbers = int(found[1]), int(found[3]), True
            old_end, new_end = old + int(found[2] or 1), new + int(found[4] or 1)
            hunks.append(Hunk(line, []))
        elif line.startswith("@@"):
            has_numbers = False
            hunks.append(Hunk("", []))
        elif line.startswith("diff "):
            has_numbers = True
        elif not has_numbers and sign in " +-":
            hunks[-1].lines.append(Line(sign, 0, 0, text))
        elif line and not line.startswith(_HEADS):
            rest.append(line)
    return [hunk for hunk in hunks if hunk.lines], rest


def is_new_file(diff: str) -> bool:
    """Tell whether a diff creates its file."""
    return diff.startswith("--- /dev/null\n")
