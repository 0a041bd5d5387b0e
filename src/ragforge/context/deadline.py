"""Deadline: run a search within its time, and report how it went."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from typing import Generic, TypeVar

from ragforge.domain.receipts import SearchReport, SearchState
from ragforge.records import dataclass

log = logging.getLogger(__name__)

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class TimedResult(Generic[Found]):
    """What a search found, or None, and how it went."""

    name: str
    found: Found | None
    state: SearchState
    milliseconds: int
    problem: str = ""

    def report(
        self, count: int, if_none: SearchState = "nothing relevant", note: str = ""
    ) -> SearchReport:
        """Return the entry for the receipt; `if_none` is the state of a search without results."""
        state = if_none if self.state == "ok" and not count else self.state
        return SearchReport(self.name, state, self.milliseconds, count, self.problem, note)


async def run_with_deadline(
    name: str, search: Awaitable[Found], seconds: float
) -> TimedResult[Found]:
    """Wait for a search. One that is late or fails finds nothing; the result says why."""
    begun = time.monotonic()
    state: SearchState = "ok"
    found: Found | None = None
    problem = ""
    try:
        async with asyncio.timeout(seconds):
            found = await search
    except TimeoutError:
        state, problem = "late", f"took longer than {seconds:g} s"
        log.warning("Search %r %s", name, problem)
    except Exception as error:  # a context with less in it is better than none
        state, problem = "failed", f"{type(error).__name__}: {error}"
        log.warning("Search %r failed", name, exc_info=True)
    return TimedResult(name, found, state, round(1_000 * (time.monotonic() - begun)), problem)
