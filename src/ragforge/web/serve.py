"""Serve: run the page on a socket until it is cancelled."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import uvicorn

from ragforge.web.site import build_site

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.web.access import Access

IDLE_SECONDS = 5
CLOSING_SECONDS = 1
MOST_REQUESTS = 200
"""At once; the others are refused, so that nobody can use all memory."""
MOST_HEAD = 16_384
"""Bytes of a request before its body."""


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
            build_site(app, access),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,  # addresses hold what was searched for
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MOST_REQUESTS,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=CLOSING_SECONDS,
            h11_max_incomplete_event_size=MOST_HEAD,
        ),
        on_started,
    )
    running = asyncio.create_task(server.serve(sockets=[opened]))
    try:
        await asyncio.shield(running)
    finally:
        server.should_exit = True
        await running
