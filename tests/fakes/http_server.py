"""A local HTTP server whose answers a test scripts, down to the cut connection."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any

    @property
    def text(self) -> str:
        return json.dumps(self.body)


@dataclass(frozen=True, slots=True)
class Answered:
    """A response as it goes out: chunks with pauses between them, and perhaps a sudden end."""

    status: int = 200
    chunks: tuple[bytes, ...] = (b"{}",)
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False  # the connection breaks after the chunks, mid-response
    held: asyncio.Event | None = None  # what the rest waits for,
    held_after: int = 0  # once this many chunks are sent
    trickle: float | None = None  # seconds between bytes that follow the chunks for ever


class HttpServer:
    """Listens on 127.0.0.1; give it a function from request to response, and a TLS context."""

    def __init__(
        self, answer: Callable[[Asked], Answered], secured: ssl.SSLContext | None = None
    ) -> None:
        self._answer = answer
        self._secured = secured
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.asked: list[Asked] = []

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> HttpServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._secured)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while asked := await _read(reader):
                self.asked.append(asked)
                if not await _write(writer, self._answer(asked)):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.lower(): value.strip() for name, _, value in (li.partition(":") for li in lines if li)
    }
    data = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, path, headers, json.loads(data) if data else None)


async def _write(writer: asyncio.StreamWriter, answered: Answered) -> bool:
    """Send a response; False if the connection is to break."""
    await asyncio.sleep(answered.delay)
    head = f"HTTP/1.1 {answered.status} {REASONS.get(answered.status, 'Other')}\r\n"
    headers = {
        "content-type": answered.content_type,
        "transfer-encoding": "chunked",
        **answered.headers,
    }
    head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(head.encode() + b"\r\n")
    for number, chunk in enumerate(answered.chunks):
        if answered.held is not None and number == answered.held_after:
            await answered.held.wait()
        writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        await writer.drain()
        await asyncio.sleep(0)
    while answered.trickle is not None:
        writer.write(b"1\r\n:\r\n")
        await writer.drain()
        await asyncio.sleep(answered.trickle)
    if answered.cut:
        writer.transport.abort()
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True
