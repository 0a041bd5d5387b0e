"""Serve: run the page on a socket until it is cancelled."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ragforge.app import App
    from ragforge.web.access import Access

IDLE_SECONDS = 5
CLOSING_SECONDS = 1
REQUEST_SECONDS = 20
"""Maximum for a complete request: forms are small."""
MAX_REQUESTS = 200
"""Maximum at once; others are refused, so that requests cannot use up the memory."""
MAX_HEAD = 16_384
"""Bytes of a request before its body."""


class _Protocol(H11Protocol):
    """A connection that is closed if a request does not arrive in time.

    Otherwise very slow clients could occupy all connections.
    """

    late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch(True)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        state = self.conn.their_state
        has_begun = state is h11.IDLE and bool(self.conn.trailing_data[0])
        self._watch(has_begun or state is h11.SEND_BODY)

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch(False)
        super().connection_lost(exc)

    def _watch(self, is_waiting: bool) -> None:
        """Start to wait for the rest of a request, unless that has begun; or stop waiting."""
        if is_waiting and self.late is None:
            self.late = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)
        elif not is_waiting and self.late is not None:
            self.late.cancel()
            self.late = None


class _Site:
    """The page, put together at its first request.

    That takes as long as a browser needs to start: the address is shown before.
    """

    def __init__(self, app: App, access: Access) -> None:
        self.app = app
        self.access = access
        self.built: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.built is None:
            from ragforge.web.site import build_site

            self.built = build_site(self.app, self.access)
        await self.built(scope, receive, send)


class _Server(uvicorn.Server):
    """A server that leaves signals to the program, and says when it listens."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self.on_started = on_started

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.on_started()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen()
    except BaseException:
        opened.close()
        raise
    return opened


async def serve(
    app: App, access: Access, opened: socket.socket, on_started: Callable[[], None]
) -> None:
    """Answer requests until this is cancelled."""
    server = _Server(
        uvicorn.Config(
            _Site(app, access),
            http=_Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,  # addresses hold what was searched for
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAX_REQUESTS,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=CLOSING_SECONDS,
            h11_max_incomplete_event_size=MAX_HEAD,
        ),
        on_started,
    )
    running = asyncio.create_task(server.serve(sockets=[opened]))
    try:
        await asyncio.shield(running)
    finally:
        server.should_exit = True
        await running
