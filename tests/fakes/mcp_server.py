"""A small MCP server on the official SDK: over its standard streams, or over HTTP.

python tests/fakes/mcp_server.py [--stubborn]
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

PIXEL = b"\x89PNG\r\n\x1a\n" + b"\x00" * 100


def make_server() -> MCPServer:
    with keep_logging():
        server: Any = MCPServer("weather")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def forecast(city: str) -> str:
        """Return the weather of a city."""
        return f"It rains in {city}."

    @server.tool()
    def environment() -> list[str]:
        """Return the names of all variables."""
        return sorted(os.environ)

    @server.tool()
    def refuse() -> str:
        """Fail."""
        raise ToolError("the thermometer is broken")

    @server.tool(structured_output=False)
    def picture() -> list[Any]:
        """Return a picture."""
        return ["A cloud:", Image(data=PIXEL, format="png")]

    @server.tool()
    async def sleep(seconds: float) -> str:
        """Take a while."""
        await asyncio.sleep(seconds)
        return "rested"

    @server.tool()
    def crash() -> str:
        """End the server."""
        sys.stderr.write("the roof fell in\n")
        sys.stderr.flush()
        os._exit(3)

    @server.resource("weather://today")
    def today() -> str:
        """The weather of today."""
        return "Sunny, 21 degrees."

    @server.prompt()
    def compare(city: str, other: str = "Oslo") -> str:
        """Compare two cities."""
        return f"Compare the weather of {city} and {other}."

    return server


@contextmanager
def keep_logging() -> Iterator[None]:
    """The SDK adds a handler to the root logger, which every later test would print to."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


def describe_server(**more: object) -> dict[str, object]:
    """Return the entry of the server in a configuration.

    Without the script's own folder in its path: some files here are named as modules of Python's.
    """
    return {"command": sys.executable, "args": ["-P", str(Path(__file__))], **more}


@asynccontextmanager
async def serve_http(
    headers: list[Mapping[str, str]] | None = None,
    make: Callable[[str], MCPServer] = lambda url: make_server(),
    *,
    is_old: bool = False,
) -> AsyncIterator[str]:
    """Serve over HTTP in this process; yield the address. `headers` receives what clients send.

    An old server knows only the revisions of the protocol that begin with a handshake.
    """
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    app: Any = make(url).streamable_http_app()

    async def listen(scope: Any, receive: Any, send: Any) -> None:
        if headers is not None and scope["type"] == "http":
            headers.append({key.decode(): value.decode() for key, value in scope["headers"]})
        if is_old and _is_new(scope):
            await _refuse(send)
            return
        await app(scope, receive, send)

    server = uvicorn.Server(
        uvicorn.Config(listen, port=0, log_level="critical", timeout_graceful_shutdown=1, ws="none")
    )
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        yield f"{url}/mcp"
    finally:
        server.should_exit = True
        await serving


def _is_new(scope: Any) -> bool:
    """Tell whether a request follows a revision without a handshake."""
    if scope["type"] != "http":
        return False
    return dict(scope["headers"]).get(b"mcp-protocol-version", b"") >= b"2026"


async def _refuse(send: Any) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b""})


if __name__ == "__main__":
    if "--stubborn" in sys.argv:  # it stops neither at the end of its input nor when it is asked to
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        make_server().run()
        signal.pause()
    make_server().run()
