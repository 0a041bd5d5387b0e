"""A server of embeddings: real HTTP on this machine, in two dialects, that fails as it is told.

The vector of a text follows from its hash, so that a test can tell whose it is.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeAlias

Items: TypeAlias = list[dict[str, Any]]


def vector_of(text: str, size: int) -> list[float]:
    """Return the server's vector of a text, which has any length."""
    values = bytearray()
    while len(values) < size:
        seed = f"{len(values)} {text}".encode("utf-8", "replace")
        values += hashlib.sha256(seed).digest()
    return [value / 64 - 1.99 for value in values[:size]]  # never all zero


def direction_of(text: str, size: int) -> list[float]:
    """Return the server's vector of a text with the length one."""
    vector = vector_of(text, size)
    return [value / math.hypot(*vector) for value in vector]


@dataclass(frozen=True)
class Step:
    """How one request is answered."""

    status: int = 200
    body: str | None = None  # None: the right answer
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut_after: int | None = None  # bytes of the answer before the connection breaks
    spoil: Callable[[Items], Items] | None = None  # changes the embeddings of the right answer


def error(status: int, message: str, **headers: str) -> Step:
    """Return a step that fails as providers do; `_` in a header's name is `-`."""
    body = json.dumps({"error": {"code": status, "message": message}})
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Step(status, body, named)


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: Any
    texts: list[str]


class EmbeddingServer:
    """Answers `/embeddings` as OpenAI does and `:batchEmbedContents` as Gemini does."""

    def __init__(self, size: int = 8) -> None:
        self.size = size
        self.requests: list[Asked] = []
        self.arrivals: asyncio.Queue[Asked] = asyncio.Queue()  # the same, to wait for
        self.steps: list[Step] = []  # taken one a request; without any, all is well
        self.refuses: Callable[[str], bool] = lambda text: False
        self.max_at_once = 0
        self._at_once = 0
        self.connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for connection in self.connections:
            connection.cancel()
        await asyncio.gather(*self.connections, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def host(self) -> str:
        assert self._server is not None
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections.add(task)
        try:
            while await self._answer(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has gone
        finally:
            self.connections.discard(task)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        request, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        path = request.split()[1]
        asked = Asked(path, headers, body, _texts(body))
        self.requests.append(asked)
        self.arrivals.put_nowait(asked)
        step = self.steps.pop(0) if self.steps else Step()
        self._at_once += 1
        self.max_at_once = max(self.max_at_once, self._at_once)
        try:
            await asyncio.sleep(step.delay)
        finally:
            self._at_once -= 1
        if any(map(self.refuses, asked.texts)):
            step = error(400, "a text is refused")
        content = (step.body if step.body is not None else self._right(asked, step)).encode()
        answer = _head(step, len(content)) + content
        if step.cut_after is not None:
            writer.write(answer[: step.cut_after])
            await writer.drain()
            return False
        writer.write(answer)
        await writer.drain()
        return True

    def _right(self, asked: Asked, step: Step) -> str:
        spoil = step.spoil or (lambda items: items)
        if asked.path.endswith(":batchEmbedContents"):
            requests = asked.body["requests"]
            size = requests[0].get("outputDimensionality", self.size) if requests else 0
            items: Items = [{"values": vector_of(text, size)} for text in asked.texts]
            return json.dumps({"embeddings": spoil(items)})
        size = asked.body.get("dimensions", self.size)
        items = [
            {"object": "embedding", "index": index, "embedding": vector_of(text, size)}
            for index, text in enumerate(asked.texts)
        ]
        usage = {"prompt_tokens": 3 * len(items), "total_tokens": 3 * len(items)}
        return json.dumps({"object": "list", "data": spoil(items), "usage": usage})


def shuffled(items: Items) -> Items:
    return items[::-1]


def one_missing(items: Items) -> Items:
    return items[1:]


def one_twice(items: Items) -> Items:
    return [items[0], *items[:-1]]


def with_first(vector: object) -> Callable[[Items], Items]:
    """Return a spoiler that gives the first text another vector."""

    def spoil(items: Items) -> Items:
        [key] = {"values", "embedding"} & items[0].keys()
        return [items[0] | {key: vector}, *items[1:]]

    return spoil


def _texts(body: Any) -> list[str]:
    if "requests" in body:
        return [request["content"]["parts"][0]["text"] for request in body["requests"]]
    return list(body["input"])


def _head(step: Step, length: int) -> bytes:
    headers = {"Content-Type": "application/json", "Content-Length": str(length), **step.headers}
    lines = [f"HTTP/1.1 {step.status} Status", *(f"{n}: {v}" for n, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
