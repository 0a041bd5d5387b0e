"""Folded output: what a program prints, as it comes; of much, the first and the last lines."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from contextlib import suppress
from types import TracebackType

from rich.live import Live
from rich.text import Text

from ragforge.show.calls import format_count
from ragforge.show.console import fit_line, sanitise
from ragforge.show.screen import Screen

HEAD = 20
TAIL = 10
LONGEST = 2_000  # characters of a line
FRAMES_PER_SECOND = 10
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


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
        self._live: Live | None = None
        self._drawing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> FoldedOutput:
        if self._screen.can_redraw:
            self._live = Live(
                console=self._screen.out,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
                get_renderable=self._render_state,
            )
            self._live.start(refresh=True)
            self._drawing = asyncio.create_task(self._draw(self._live))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawing is not None:
            self._drawing.cancel()
        if self._unfinished:
            self._add_line(self._unfinished)
            self._unfinished = ""
        if self._live is not None:
            self._live.stop()
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
        # A bar that is drawn again and again on one line is shown as it was last.
        clean = _ESCAPES.sub("", line.rstrip("\r").rpartition("\r")[2])[:LONGEST].expandtabs(4)
        self._count += 1
        if self._count <= HEAD:
            self._screen.say(clean)
        else:
            self._tail.append(clean)

    async def _draw(self, live: Live) -> None:
        with suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(1 / FRAMES_PER_SECOND)
                live.refresh()

    def _render_state(self) -> Text:
        now = time.monotonic()
        spinner = self._screen.signs.spinner
        frame = spinner[int(now * FRAMES_PER_SECOND) % len(spinner)]
        end = f"  {format_count(self._count, 'line', 'lines')}, {now - self._began:.0f} s"
        line = f"{frame} {sanitise(self._what)}"
        width = self._screen.out.width - len(end) - 20
        return Text(f"{fit_line(line, max(width, 10))}{end}  Ctrl-C ends it", style="dim")
