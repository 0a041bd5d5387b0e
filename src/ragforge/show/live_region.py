"""Live region: lines at the bottom that are redrawn while something runs."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from rich.console import RenderableType
from rich.live import Live

from ragforge.show.screen import Screen

FRAMES_PER_SECOND = 10
LONGEST = 2_000  # characters of a line
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


class Redrawn:
    """Draws the result of `render` repeatedly, if the screen can be redrawn."""

    def __init__(self, screen: Screen, render: Callable[[], RenderableType]) -> None:
        self._screen = screen
        self._render = render
        self._live: Live | None = None
        self._drawing: asyncio.Task[None] | None = None

    def begin(self) -> None:
        self.resume()
        if self._screen.can_redraw:
            self._drawing = asyncio.create_task(self._draw())

    def end(self) -> None:
        if self._drawing is not None:
            self._drawing.cancel()
        self.pause()

    def pause(self) -> None:
        """Remove the lines until `resume`."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def resume(self) -> None:
        if self._screen.can_redraw:
            self._live = Live(
                console=self._screen.out,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
                vertical_overflow="crop",
                get_renderable=self._render,
            )
            self._live.start(refresh=True)

    def choose_frame(self) -> str:
        """Return the sign of the spinner for this moment."""
        spinner = self._screen.signs.spinner
        return spinner[int(time.monotonic() * FRAMES_PER_SECOND) % len(spinner)]

    async def _draw(self) -> None:
        with suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(1 / FRAMES_PER_SECOND)
                if self._live is not None:
                    self._live.refresh()


def clean_line(line: str) -> str:
    """Return a printed line without colours; a bar that is drawn again as it was last."""
    return _ESCAPES.sub("", line.rstrip("\r").rpartition("\r")[2])[:LONGEST].expandtabs(4)


class LastLines:
    """Keeps the last lines of an output, and counts those before."""

    def __init__(self, limit: int) -> None:
        self._count = 0  # of finished lines
        self._lines: deque[str] = deque(maxlen=limit)
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
