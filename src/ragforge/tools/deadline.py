"""Deadline: how long a tool call may take."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

SECONDS = 15.0
"""How long a tool may take unless its caller says otherwise."""


class Deadline:
    """A point in time; cancelling the caller moves it to now."""

    def __init__(self, seconds: float) -> None:
        self.begun = time.monotonic()
        self._at = self.begun + seconds

    @property
    def left(self) -> float:
        """How many seconds are left, never less than none."""
        return max(0.0, self._at - time.monotonic())

    @property
    def has_passed(self) -> bool:
        return time.monotonic() >= self._at

    async def run_in_thread(self, work: Callable[[], T]) -> T:
        """Run work that checks this deadline in a thread; when cancelled, the deadline passes."""
        try:
            return await asyncio.to_thread(work)
        except asyncio.CancelledError:
            self._at = 0.0
            raise
