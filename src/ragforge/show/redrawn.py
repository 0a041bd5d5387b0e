"""Redrawn: lines below what is printed for good, drawn anew while something runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from rich.console import RenderableType
from rich.live import Live

from ragforge.show.screen import Screen

FRAMES_PER_SECOND = 10


class Redrawn:
    """What `render` returns, again and again; nothing where the screen cannot be drawn over."""

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
