"""A scripted chat model: says what it was told to say, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import TypeAlias

from ragforge.domain.chat import (
    AssistantMessage,
    ChatRequest,
    Reply,
    StreamEvent,
    TextDelta,
    ToolRequest,
    Usage,
    UserMessage,
)

Step: TypeAlias = str | AssistantMessage | Exception
Script: TypeAlias = Iterable[Step] | Callable[[ChatRequest], Step]


class ScriptedModel:
    """Keeps the promises of `ChatModel`. A script is a list of steps, or a function."""

    name = "scripted:model"
    window: int | None = None

    def __init__(
        self,
        script: Script,
        *,
        calls_tools: bool = True,
        usd: float | None = None,
        delay: float = 0.0,
    ) -> None:
        self._script = script if callable(script) else iter(script)
        self._usd = usd
        self._delay = delay
        self.calls_tools = calls_tools
        self.asked: list[ChatRequest] = []
        self.running = 0
        self.max_running = 0

    async def prepare(self) -> None:
        pass

    async def reply(self, request: ChatRequest) -> Reply:
        self.asked.append(request)
        self.running += 1
        self.max_running = max(self.max_running, self.running)
        try:
            await asyncio.sleep(self._delay)
            step = self._script(request) if callable(self._script) else next(self._script)
        finally:
            self.running -= 1
        if isinstance(step, Exception):
            raise step
        said = AssistantMessage(step) if isinstance(step, str) else step
        return Reply(said, Usage(10, 5, 1, self._usd))

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        reply = await self.reply(request)
        for word in reply.message.text.split(" "):
            yield TextDelta(word)
        yield reply

    async def close(self) -> None:
        pass


def calls(*wanted: tuple[str, dict[str, object]], text: str = "") -> AssistantMessage:
    """Return an answer that calls tools."""
    requests = [ToolRequest(f"call-{n}", name, args) for n, (name, args) in enumerate(wanted)]
    return AssistantMessage(text, tool_requests=tuple(requests))


def last_words(request: ChatRequest) -> str:
    """Return the last thing that was said to the model."""
    said: Sequence[str] = [m.text for m in request.messages if isinstance(m, UserMessage)]
    return said[-1]
