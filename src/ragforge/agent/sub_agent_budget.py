"""Sub-agent budget: what all sub-agents of a turn may use together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from ragforge.domain.chat import ChatRequest, Reply
from ragforge.errors import SubAgentLimit
from ragforge.records import dataclass

MAX_TOGETHER = 4
"""How many sub-agents work at the same time; further ones wait."""


@dataclass(frozen=True, slots=True)
class SubAgentLimits:
    """Limits of a turn: tool calls and tokens of all sub-agents, waiting time of each."""

    calls: int = 300
    tokens: int = 3_000_000
    seconds: float = 600.0


class SubAgentBudget:
    """Counts what the sub-agents of a turn use."""

    def __init__(self, limits: SubAgentLimits | None = None) -> None:
        self._limits = limits or SubAgentLimits()
        self._calls = 0
        self._tokens = 0
        self.room = asyncio.Semaphore(MAX_TOGETHER)

    def count_call(self) -> None:
        self._calls += 1

    def limit(
        self, ask: Callable[[ChatRequest], Awaitable[Reply]]
    ) -> Callable[[ChatRequest], Awaitable[Reply]]:
        """Return what asks the model of one sub-agent until a limit is reached.

        It raises SubAgentLimit then. Time in which tools run or the user is asked does not count.
        """
        left = self._limits.seconds

        async def ask_within(request: ChatRequest) -> Reply:
            nonlocal left
            self._check()
            began = time.monotonic()
            try:
                async with asyncio.timeout(max(left, 0)) as clock:
                    reply = await ask(request)
            except TimeoutError:
                if not clock.expired():
                    raise
                raise SubAgentLimit(
                    f"The sub-agent waited {self._limits.seconds:g} seconds for its model "
                    "(agent.sub_agents.max_seconds)."
                ) from None
            left -= time.monotonic() - began
            self._tokens += reply.usage.input_tokens + reply.usage.output_tokens
            return reply

        return ask_within

    def _check(self) -> None:
        for used, limit, name in (
            (self._calls, self._limits.calls, "calls"),
            (self._tokens, self._limits.tokens, "tokens"),
        ):
            if used >= limit:
                raise SubAgentLimit(
                    f"The sub-agents of this turn have used their {limit:,} {name} "
                    f"(agent.sub_agents.max_{name}). Finish the work without them."
                )
