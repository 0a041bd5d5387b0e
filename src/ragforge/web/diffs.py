"""Diffs: a unified diff as two columns, before and after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_HEADS = (
    "diff ",
    "index ",
    "--- ",
    "+++ ",
    "\\ ",
    "old mode",
    "new mode",
    "similarity ",
    "rename ",
)


class Side(NamedTuple):
    """One line of a column; its number is 0 where it is not known."""

    kind: str
    number: int
    text: str


class Row(NamedTuple):
    """Two lines side by side; a heading stands over both columns."""

    left: Side | None
    right: Side | None
    heading: str = ""


def pair_lines(diff: str) -> list[Row]:
    """Return a unified diff as rows: what goes on the left, what comes on the right."""
    return [*_pair(diff.rstrip("\n").split("\n"))] if diff.strip() else []


def _pair(lines: list[str]) -> Iterator[Row]:
    old = new = 0  # the next line of each side; 0: nobody knows
    gone: list[Side] = []
    came: list[Side] = []

    def flush() -> Iterator[Row]:
        yield from (Row(left, right) for left, right in zip_longest(gone, came))
        gone.clear()
        came.clear()

    in_hunk = False
    for line in lines:
        sign, text = line[:1], line[1:]
        if line.startswith("@@"):
            yield from flush()
            found = _HUNK.match(line)
            old, new = (int(found[1]), int(found[2])) if found else (0, 0)
            if found or in_hunk:  # without numbers it only parts what lies apart
                yield Row(None, None, line)
            in_hunk = True
        elif line.startswith("\\ ") or (not in_hunk and line.startswith(_HEADS)):
            continue
        elif line.startswith("diff --git "):
            yield from flush()
            in_hunk = False
        elif sign == "-":
            if came:  # a further change right behind another
                yield from flush()
            gone.append(Side("del", old, text))
            old += bool(old)
        elif sign == "+":
            came.append(Side("ins", new, text))
            new += bool(new)
        else:
            yield from flush()
            yield Row(Side("same", old, text), Side("same", new, text))
            old, new = old + bool(old), new + bool(new)
    yield from flush()
