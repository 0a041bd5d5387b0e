"""Last lines: the end of what a running command has printed so far."""

from __future__ import annotations

import re
from collections import deque

LONGEST = 2_000  # characters of a line
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


def clean_line(line: str) -> str:
    """Return a printed line without colours; a bar that is drawn again as it was last."""
    return _ESCAPES.sub("", line.rstrip("\r").rpartition("\r")[2])[:LONGEST].expandtabs(4)


class LastLines:
    """Keeps the last lines of an output, and counts those before."""

    def __init__(self, most: int) -> None:
        self._count = 0  # of finished lines
        self._lines: deque[str] = deque(maxlen=most)
        self._unfinished = ""

    def add(self, text: str) -> None:
        """Take the next piece of the output."""
        *lines, rest = (self._unfinished + text).split("\n")
        self._count += len(lines)
        self._lines.extend(map(clean_line, lines))
        self._unfinished = rest[-LONGEST:]

    def count_hidden(self) -> int:
        """Return how many lines came before the last ones."""
        return self._count + bool(self._unfinished) - len(self.get())

    def get(self) -> list[str]:
        """Return the last lines, with one that is not finished."""
        unfinished = [clean_line(self._unfinished)] if self._unfinished else []
        return [*self._lines, *unfinished][-(self._lines.maxlen or 1) :]
