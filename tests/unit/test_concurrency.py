"""Concurrency: coroutines that run at once, and end at once if one fails."""

from __future__ import annotations

import asyncio

import pytest

from ragforge.concurrency import gather_or_cancel
from ragforge.errors import StoreBusy


async def test_results_come_in_the_order_given() -> None:
    async def wait(seconds: float) -> float:
        await asyncio.sleep(seconds)
        return seconds

    assert list(await gather_or_cancel(wait(0.01), wait(0.0))) == [0.01, 0.0]


async def test_a_failing_read_cancels_the_others_and_is_raised_itself() -> None:
    cancelled = []

    async def wait_for_ever() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append("it")
            raise

    async def fail() -> None:
        await asyncio.sleep(0)
        try:
            raise OSError("the disk")
        except OSError as error:
            raise StoreBusy("busy") from error

    with pytest.raises(StoreBusy) as caught:
        await gather_or_cancel(wait_for_ever(), fail())

    assert cancelled == ["it"]
    assert isinstance(caught.value.__cause__, OSError)
