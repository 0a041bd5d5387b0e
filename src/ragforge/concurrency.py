"""Concurrency: await several coroutines at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

__all__ = ["gather_or_cancel"]

if TYPE_CHECKING:  # its overloads tell the type of each result
    from asyncio import gather as gather_or_cancel
else:

    async def gather_or_cancel(*coroutines: Coroutine[Any, Any, Any]) -> list[Any]:
        """Return the results in the order given; if one fails, cancel the others and raise that.

        `asyncio.gather` would leave the others running with nobody to wait for them.
        """
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(coroutine) for coroutine in coroutines]
        except BaseExceptionGroup as failed:
            first = failed.exceptions[0]
            raise first from first.__cause__
        return [task.result() for task in tasks]
