"""The clock of a turn: it is paused while the user decides."""

from __future__ import annotations

import asyncio
from types import TracebackType

from ragforge.agent.permissions import Approve, Verdict
from ragforge.tools.permission import PermissionRequest


class Clock:
    """Raises TimeoutError in the `async with` block when the time is over."""

    def __init__(self, seconds: float) -> None:
        self._limit = asyncio.timeout(seconds)

    @property
    def is_over(self) -> bool:
        return self._limit.expired()

    async def __aenter__(self) -> Clock:
        await self._limit.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._limit.__aexit__(kind, error, trace)

    def pause_during(self, approve: Approve) -> Approve:
        """Return an `approve` that asks the same while the clock is paused."""

        async def ask(request: PermissionRequest) -> Verdict:
            time = asyncio.get_running_loop().time
            end = self._limit.when()
            left = None if end is None else end - time()
            self._limit.reschedule(None)
            try:
                return await approve(request)
            finally:
                self._limit.reschedule(None if left is None else time() + left)

        return ask
