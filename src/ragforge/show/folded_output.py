"""Folded output: what a program prints, as it comes; of much, the first and the last lines."""

from __future__ import annotations

import time
from collections import deque
from types import TracebackType

from rich.text import Text

from ragforge.show.calls import format_count
from ragforge.show.console import fit_line, sanitise
from ragforge.show.last_lines import LONGEST, clean_line
from ragforge.show.redrawn import Redrawn
from ragforge.show.screen import Screen

HEAD = 20
TAIL = 10


class FoldedOutput:
    """Prints the lines of a running command, with a line below that says how long it takes."""

    def __init__(self, screen: Screen, what: str) -> None:
        self._screen = screen
        self._what = what
        self.has_failed = False  # said before the end: the last lines are red then
        self._began = time.monotonic()
        self._unfinished = ""
        self._count = 0
        self._tail: deque[str] = deque(maxlen=TAIL)
        self._state = Redrawn(screen, self._render_state)

    async def __aenter__(self) -> FoldedOutput:
        self._state.begin()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._unfinished:
            self._add_line(self._unfinished)
            self._unfinished = ""
        self._state.end()
        if (hidden := self._count - HEAD - len(self._tail)) > 0:
            self._screen.note(f"… {format_count(hidden, 'more line', 'more lines')}: /expand")
        for line in self._tail:
            self._screen.say(line, "red" if self.has_failed else "")

    def add(self, text: str) -> None:
        """Take the next piece of the output."""
        *lines, rest = (self._unfinished + text).split("\n")
        for line in lines:
            self._add_line(line)
        self._unfinished = rest[-LONGEST:]

    def _add_line(self, line: str) -> None:
        clean = clean_line(line)
        self._count += 1
        if self._count <= HEAD:
            self._screen.say(clean)
        else:
            self._tail.append(clean)

    def _render_state(self) -> Text:
        seconds = time.monotonic() - self._began
        end = f"  {format_count(self._count, 'line', 'lines')}, {seconds:.0f} s"
        line = f"{self._state.choose_frame()} {sanitise(self._what)}"
        width = self._screen.out.width - len(end) - 20
        return Text(f"{fit_line(line, max(width, 10))}{end}  Ctrl-C ends it", style="dim")
