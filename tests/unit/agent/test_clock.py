"""The clock of a turn."""

from __future__ import annotations

import asyncio

import pytest

from ragforge.agent.permissions import Clock, Verdict
from ragforge.tools.permission import PermissionRequest

WISH = PermissionRequest("edit_file", "x", "", ("x",))


async def test_it_ends_what_takes_too_long() -> None:
    clock = Clock(0.05)
    with pytest.raises(TimeoutError):
        async with clock:
            await asyncio.sleep(60)
    assert clock.is_over


async def test_it_pauses_while_the_user_decides_and_then_continues() -> None:
    async def think(wish: PermissionRequest) -> Verdict:
        await asyncio.sleep(0.5)
        return Verdict("once")

    clock = Clock(0.2)
    decided: list[Verdict] = []

    async def decide_and_go_on() -> None:
        async with clock:
            decided.append(await clock.pause_during(think)(WISH))
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await decide_and_go_on()
    assert decided == [Verdict("once")]


async def test_an_unrelated_failure_is_not_caused_by_the_clock() -> None:
    clock = Clock(60)
    with pytest.raises(TimeoutError):
        async with clock:
            raise TimeoutError
    assert not clock.is_over
