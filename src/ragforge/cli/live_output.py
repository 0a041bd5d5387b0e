"""Live output: how `ragforge ask` shows a turn in a terminal."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from ragforge.cli.outputs import Output, show_end
from ragforge.events import Event
from ragforge.permissions import PermissionRequest, Verdict
from ragforge.show.console import open_console
from ragforge.show.screen import Screen
from ragforge.show.turn_view import TurnView
from ragforge.tui.keyboard import hide_typing
from ragforge.tui.permission import Permission, ServerForm

if TYPE_CHECKING:
    from ragforge.domain.mcp_client import ServerAnswer, ServerQuestion
    from ragforge.domain.turns import Answer


class LiveOutput(Output):
    """The answer as it comes, and questions before changes."""

    def __init__(self) -> None:
        self._screen = Screen()
        # Lines of tool calls belong to stderr; in the same terminal they must not cross the view.
        calls_out = None if sys.stderr.isatty() else open_console(stderr=True)
        self._view = TurnView(self._screen, calls_out=calls_out)
        self._stack = AsyncExitStack()
        self._asking: asyncio.Task[object] | None = None

    async def __aenter__(self) -> Output:
        self._asking = asyncio.current_task()
        self._stack.enter_context(hide_typing())
        await self._stack.enter_async_context(self._view)
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        await self._stack.aclose()

    def on_event(self, event: Event) -> None:
        self._view.on_event(event)

    async def approve(self, request: PermissionRequest) -> Verdict:
        return await Permission(self._screen, self._view, self._interrupt).approve(request)

    async def answer_server(self, question: ServerQuestion) -> ServerAnswer:
        return await ServerForm(self._screen, self._view, self._interrupt).answer(question)

    def end(self, answer: Answer) -> None:
        if answer.problem is not None:
            self._screen.problem(answer.problem)
        show_end(answer)

    def _interrupt(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
