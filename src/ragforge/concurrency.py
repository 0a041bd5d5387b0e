"""Concurrency: await several coroutines at once, with an event loop or without one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["call_in_thread", "gather_or_cancel", "run_without_loop"]

T = TypeVar("T")

if TYPE_CHECKING:  # its overloads tell the type of each result
    from asyncio import gather as gather_or_cancel
else:

    async def gather_or_cancel(*coroutines: Coroutine[Any, Any, Any]) -> list[Any]:
        """Return the results in the order given; if one fails, cancel the others and raise that.

        `asyncio.gather` would leave the others running unattended. Without an
        event loop they run one after the other.
        """
        if not _has_loop():
            return _run_in_order(coroutines)
        import asyncio

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(coroutine) for coroutine in coroutines]
        except BaseExceptionGroup as failed:
            first = failed.exceptions[0]
            raise first from first.__cause__
        return [task.result() for task in tasks]


async def call_in_thread(work: Callable[..., T], *given: Any) -> T:
    """Call a function that takes a while, and let others run; without an event loop none do."""
    if not _has_loop():
        return work(*given)
    import asyncio

    return await asyncio.to_thread(work, *given)


def run_without_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing, as `asyncio.run` would. To load that takes 30 ms.

    Raises RuntimeError if it does wait.
    """
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise RuntimeError(f"{coroutine!r} waits, which needs an event loop")


def _run_in_order(coroutines: tuple[Coroutine[Any, Any, Any], ...]) -> list[Any]:
    try:
        return [run_without_loop(one) for one in coroutines]
    finally:
        for one in coroutines:
            one.close()  # those after one that failed


def _has_loop() -> bool:
    """Tell whether an event loop runs in this thread."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None
