"""Serve: requests come on standard input and are answered on standard output, side by side."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from ragforge.errors import RagForgeError
from ragforge.mcp.protocol import Dispatcher, Report
from ragforge.mcp.wire import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    Content,
    MessageId,
    WireError,
    encode,
    get_id,
    make_answer,
    make_error,
    make_notification,
    parse_message,
)

logger = logging.getLogger(__name__)
Write = Callable[[bytes], Awaitable[None]]


class Connection:
    """One client: its requests that are being worked on, by id."""

    def __init__(self, dispatcher: Dispatcher, write: Write) -> None:
        self._dispatcher = dispatcher
        self._write = write
        self._running: dict[MessageId, asyncio.Task[None]] = {}

    async def serve(self, lines: AsyncIterator[bytes]) -> None:
        """Answer until the lines end; then stop what is still running."""
        try:
            async for line in lines:
                if line.strip():
                    await self._take(line)
        finally:
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _take(self, line: bytes) -> None:
        """Start the work on a request, or stop it."""
        try:
            message = parse_message(line)
        except WireError as error:
            await self._send(make_error(None, error))
            return
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        request = get_id(message)
        if not isinstance(method, str):
            if "result" not in message and "error" not in message:
                error = WireError(INVALID_REQUEST, "The message has no method.")
                await self._send(make_error(request, error))
        elif request is None:
            if method == "notifications/cancelled":
                self._cancel(params.get("requestId"))
        elif request in self._running:
            error = WireError(INVALID_REQUEST, f"The id {request!r} is in use.")
            await self._send(make_error(request, error))
        else:
            task = asyncio.create_task(self._answer(request, method, params))
            self._running[request] = task
            task.add_done_callback(lambda _: self._running.pop(request, None))

    def _cancel(self, request: Any) -> None:
        if isinstance(request, str | int) and (task := self._running.get(request)) is not None:
            task.cancel()

    async def _answer(self, request: MessageId, method: str, params: Content) -> None:
        """Send the answer of one request; a cancelled one is not answered."""
        try:
            result = await self._dispatcher.answer(method, params, self._make_report(params))
            await self._send(make_answer(request, result))
        except WireError as error:
            await self._send(make_error(request, error))
        except RagForgeError as error:
            await self._send(make_error(request, WireError(INTERNAL_ERROR, str(error))))
        except Exception as error:
            logger.exception("A request failed: %s", method)
            said = f"{type(error).__name__}; the log has more."
            await self._send(make_error(request, WireError(INTERNAL_ERROR, said)))

    def _make_report(self, params: Content) -> Report:
        """Return what sends progress, if the request wants it."""
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None

        async def report(done: int, total: int | None, doing: str) -> None:
            if token is None:
                return
            progress: dict[str, Any] = {"progressToken": token, "progress": done, "message": doing}
            if total is not None:
                progress["total"] = total
            await self._send(make_notification("notifications/progress", progress))

        return report

    async def _send(self, message: Content) -> None:
        await self._write(encode(message))
