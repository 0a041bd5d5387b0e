"""Concurrency: coroutines that run at once, and end at once if one fails."""

from __future__ import annotations

import asyncio

import pytest

from ragforge.concurrency import call_in_thread, gather_or_cancel, run_without_loop
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


def test_what_waits_for_nothing_needs_no_event_loop() -> None:
    async def answer(number: int) -> int:
        return number

    async def ask() -> list[int]:
        return [*await gather_or_cancel(answer(1), answer(2)), await call_in_thread(abs, -3)]

    assert run_without_loop(ask()) == [1, 2, 3]


def test_what_waits_without_an_event_loop_is_an_error_and_does_not_hang() -> None:
    async def wait() -> None:
        await asyncio.sleep(0)

    async def ask() -> None:
        await gather_or_cancel(wait(), wait())

    with pytest.raises(RuntimeError, match="needs an event loop"):
        run_without_loop(wait())
    with pytest.raises(RuntimeError, match="needs an event loop"):
        run_without_loop(ask())
