"""Serve: read requests from standard input, and answer them concurrently on standard output."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from itertools import count

from ragforge.errors import RagForgeError
from ragforge.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    Content,
    Dispatcher,
    MessageId,
    WireError,
    encode,
    get_id,
    parse_message,
)
from ragforge.mcp.streams import Output, read_lines

logger = logging.getLogger(__name__)

CLOSING_SECONDS = 10.0
"""How long running requests may take after the input has ended."""
PARENT_SECONDS = 3.0
REPORT_SECONDS = 0.2


async def serve(dispatcher: Dispatcher, incoming: int, outgoing: int) -> None:
    """Answer until the input ends, the output is closed, or the parent process is gone."""
    loop = asyncio.get_running_loop()
    is_broken = asyncio.Event()

    def notice_broken() -> None:
        with suppress(RuntimeError):  # the loop is closed already
            loop.call_soon_threadsafe(is_broken.set)

    output = Output(outgoing, notice_broken)
    connection = Connection(dispatcher, lambda message: output.send(encode(message)))
    serving = asyncio.create_task(connection.serve(read_lines(incoming)))
    parent = asyncio.create_task(_wait_for_parents_end())
    broken = asyncio.create_task(is_broken.wait())
    tasks = (serving, parent, broken)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        output.close()


async def _wait_for_parents_end() -> None:
    """Return once the parent process has ended: others may keep the input open."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - no system reports it to a child portably
        await asyncio.sleep(PARENT_SECONDS)


class Connection:
    """One client: its requests that are being worked on, and those it was sent, by id."""

    def __init__(self, dispatcher: Dispatcher, send: Callable[[Content], None]) -> None:
        self._dispatcher = dispatcher
        self._send = send
        self._running: dict[MessageId, asyncio.Task[None]] = {}
        self._waiting: dict[MessageId, asyncio.Future[Content]] = {}
        self._ids = count(1)

    async def serve(self, lines: AsyncIterator[bytes | None]) -> None:
        """Answer until the lines end; then finish what is running, for a while."""
        try:
            async for line in lines:
                if line is None:
                    self._refuse(None, WireError(PARSE_ERROR, "The line is too long."))
                elif line.strip():
                    self._take(line)
            for question in self._waiting.values():
                question.cancel()
            if self._running:
                await asyncio.wait(self._running.values(), timeout=CLOSING_SECONDS)
        finally:
            running = list(self._running.values())
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def request(self, method: str, params: Content) -> Content:
        """Return the client's answer to a request of the server's. Raises WireError."""
        request = f"ragforge-{next(self._ids)}"
        answer: asyncio.Future[Content] = asyncio.get_running_loop().create_future()
        self._waiting[request] = answer
        self._write(id=request, method=method, params=params)
        try:
            message = await answer
        except asyncio.CancelledError:
            gone = {"requestId": request, "reason": "No longer needed"}
            self.notify("notifications/cancelled", gone)
            raise
        finally:
            del self._waiting[request]
        result = message.get("result")
        if not isinstance(result, dict):
            raise WireError(INTERNAL_ERROR, f"The client did not answer {method}.")
        return result

    def _take(self, line: bytes) -> None:
        """Start the work on a request, stop it, or take an answer."""
        request = None
        try:
            message = parse_message(line)
            request = get_id(message)
            self._sort(request, message)
        except WireError as error:
            self._refuse(request, error)

    def _sort(self, request: MessageId | None, message: Content) -> None:
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if not isinstance(method, str):
            if "result" not in message and "error" not in message:
                raise WireError(INVALID_REQUEST, "The message has no method.")
            waiting = None if request is None else self._waiting.get(request)
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
        elif request is None:
            if method == "notifications/cancelled":
                cancelled = params.get("requestId")
                if isinstance(cancelled, str | int) and cancelled in self._running:
                    self._running[cancelled].cancel()
            else:
                self._dispatcher.notice(method)
        elif request in self._running:
            raise WireError(INVALID_REQUEST, f"The id {request!r} is in use.")
        else:
            task = asyncio.create_task(self._answer(request, method, params))
            self._running[request] = task
            task.add_done_callback(lambda _: self._running.pop(request, None))

    async def _answer(self, request: MessageId, method: str, params: Content) -> None:
        """Send the answer of one request; a cancelled one is not answered."""
        try:
            result = await self._dispatcher.answer(method, params, RequestChannel(self, params))
            self._write(id=request, result=result)
        except WireError as error:
            self._refuse(request, error)
        except RagForgeError as error:
            self._refuse(request, WireError(INTERNAL_ERROR, str(error)))
        except Exception as error:
            logger.exception("A request failed: %s", method)
            said = f"{type(error).__name__}. See the log for details."
            self._refuse(request, WireError(INTERNAL_ERROR, said))

    def notify(self, method: str, params: Content) -> None:
        self._write(method=method, params=params)

    def _refuse(self, request: MessageId | None, error: WireError) -> None:
        # A client could not match an id of null, and the current revision has none.
        known = {} if request is None else {"id": request}
        data = {} if error.data is None else {"data": error.data}
        self._write(**known, error={"code": error.code, "message": str(error), **data})

    def _write(self, **message: object) -> None:
        self._send({"jsonrpc": "2.0", **message})


class RequestChannel:
    """The connection to the client while one of its requests is running."""

    def __init__(self, connection: Connection, params: Content) -> None:
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        self._connection = connection
        self._token = token if isinstance(token, str | int) else None
        self._steps = 0
        self._last = 0.0

    def report(self, doing: str) -> None:
        """Report progress, but not faster than it can be read."""
        moment = time.monotonic()
        if self._token is None or (self._steps and moment - self._last < REPORT_SECONDS):
            return
        self._steps, self._last = self._steps + 1, moment
        progress = {"progressToken": self._token, "progress": self._steps, "message": doing}
        self._connection.notify("notifications/progress", progress)

    async def request(self, method: str, params: Content) -> Content:
        return await self._connection.request(method, params)
