"""Calls: the tools of a model, and running the calls it asks for."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from ragforge.domain.chat import ToolMessage, ToolRequest, ToolSpec
from ragforge.domain.text import Json, keep_beginning, to_text
from ragforge.errors import RagForgeError
from ragforge.records import dataclass

log = logging.getLogger(__name__)

Run: TypeAlias = Callable[[Mapping[str, Json]], Awaitable[Json]]
OnStart: TypeAlias = Callable[[ToolRequest], None]
OnCall: TypeAlias = Callable[["ExecutedCall"], None]

_stopwatches: ContextVar[tuple[Stopwatch, ...]] = ContextVar("stopwatches", default=())
"""Of the running call, and of the calls that it is a part of."""

RESULT_CHARS = 20_000
"""How much of a result the model gets; the caller gets all of it."""


class Stopwatch:
    """Measures a call, without the time in which it waits for the user."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self.waited = 0.0

    def get_ms(self) -> int:
        seconds = time.perf_counter() - self._began - self.waited
        return max(0, round(seconds * 1000))  # two calls in it may have waited at once


@contextmanager
def pause_stopwatches() -> Iterator[None]:
    """Do not count the time of the block as the duration of the running call."""
    began = time.perf_counter()
    try:
        yield
    finally:
        waited = time.perf_counter() - began
        for stopwatch in _stopwatches.get():
            stopwatch.waited += waited


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a model."""

    spec: ToolSpec
    run: Run
    modifies_files: bool = False
    changing: Callable[[Json], bool] | None = None  # which of its calls do, if not all

    def modifies(self, arguments: Json) -> bool:
        """Tell whether a call may modify files. Such a call does not run together with others."""
        return self.modifies_files and (self.changing is None or self.changing(arguments))


@dataclass(frozen=True, slots=True)
class ExecutedCall:
    """One call that was made, successful or not."""

    name: str
    arguments: Json
    result: Json
    success: bool
    duration_ms: int
    iteration: int
    error: str | None = None
    request_id: str = ""

    def to_message(self) -> ToolMessage:
        """Return the message with the result for the model."""
        text = format_result(self.success, self.result, self.error)
        return ToolMessage(self.request_id, self.name, text, self.success)


def format_result(success: bool, result: Json, error: str | None) -> str:
    """Return the result, shortened for the model, or the error."""
    return keep_beginning(to_text(result) if success else f"Error: {error}", RESULT_CHARS)


async def run_calls(
    tools: Sequence[Tool],
    requests: Sequence[ToolRequest],
    iteration: int,
    on_call: OnCall | None = None,
    on_start: OnStart | None = None,
) -> list[ExecutedCall]:
    """Run the calls of one answer and return them in its order.

    Calls run together, except those that modify files: such a call waits for all before
    it, and all after it wait for it. A call that fails does not affect the others.
    """
    known = {tool.spec.name: tool for tool in tools}
    done: list[ExecutedCall] = []
    together: list[ToolRequest] = []

    async def finish() -> None:
        calls = (_run(known, request, iteration, on_call, on_start) for request in together)
        done.extend(await asyncio.gather(*calls))
        together.clear()

    for request in requests:
        tool = known.get(request.name)
        if tool is not None and tool.modifies(request.arguments):
            await finish()
            together.append(request)
            await finish()
        else:
            together.append(request)
    await finish()
    return done


async def _run(
    known: Mapping[str, Tool],
    request: ToolRequest,
    iteration: int,
    on_call: OnCall | None,
    on_start: OnStart | None,
) -> ExecutedCall:
    if on_start is not None:
        on_start(request)
    stopwatch = Stopwatch()
    outer = _stopwatches.set((*_stopwatches.get(), stopwatch))
    result: Json = None
    error: str | None = None
    try:
        result = await _call_tool(known, request)
    except RagForgeError as failure:
        error = str(failure)
    except Exception as failure:  # a tool may fail in any way; none may stop the loop
        log.warning("Tool %s failed", request.name, exc_info=True)
        error = f"{type(failure).__name__}: {failure}"
    finally:
        _stopwatches.reset(outer)
    call = ExecutedCall(
        name=request.name,
        arguments=request.arguments,
        result=result,
        success=error is None,
        duration_ms=stopwatch.get_ms(),
        iteration=iteration,
        error=error,
        request_id=request.id,
    )
    if on_call is not None:
        on_call(call)
    return call


async def _call_tool(known: Mapping[str, Tool], request: ToolRequest) -> Json:
    tool = known.get(request.name)
    if tool is None:
        raise RagForgeError(f"There is no tool {request.name!r}. There are: {', '.join(known)}.")
    if not isinstance(request.arguments, dict):
        raise RagForgeError("The arguments are not a JSON object.")
    return await tool.run(request.arguments)
