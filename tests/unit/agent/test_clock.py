"""The time limit of a turn."""

from __future__ import annotations

import asyncio

import pytest

from ragforge.agent.permissions import Verdict, pause_during
from ragforge.tools.permission import PermissionRequest

WISH = PermissionRequest("edit_file", "x", "", ("x",))


async def test_it_pauses_while_the_user_decides_and_then_continues() -> None:
    async def think(wish: PermissionRequest) -> Verdict:
        await asyncio.sleep(0.5)
        return Verdict("once")

    limit = asyncio.timeout(0.2)
    decided: list[Verdict] = []

    async def decide_and_go_on() -> None:
        async with limit:
            decided.append(await pause_during(limit, think)(WISH))
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await decide_and_go_on()
    assert limit.expired()
    assert decided == [Verdict("once")]
