"""Connect: a connection to one server, over its standard input and output or over HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TextIO, TypeVar
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    Implementation,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import ValidationError

from ragforge.adapters.mcp_client.login import explain_login, find_login, has_own_key
from ragforge.adapters.mcp_client.questions import make_callback
from ragforge.domain.mcp_client import (
    AnswerServer,
    ServerOffer,
    ServerPrompt,
    ServerResource,
    ServerSpec,
    ServerTool,
)
from ragforge.domain.text import Json, keep_beginning, shorten_end
from ragforge.errors import ServerError, ServerGone
from ragforge.ports.mcp_client import LoginStore
from ragforge.processes import hide_process

MAX_PAGES = 50
MAX_LISTED = 1_000
PROBLEM_CHARS = 300
HTTP_TIMEOUT = httpx2.Timeout(30.0, read=300.0)
"""Of one exchange; a call has a separate deadline above."""
_ENDED_SESSION = "Session terminated"
T = TypeVar("T")


MAX_CHARS = 1_000_000
"""Of one result: what is more would only fill the memory."""
_BASE64_SHARE = 3 / 4


KEPT = 4_000


@asynccontextmanager
async def connect(
    spec: ServerSpec,
    seconds: float,
    leaving: asyncio.Event,
    answer: AnswerServer,
    logins: LoginStore,
    version: str,
) -> AsyncIterator[SdkConnection]:
    """Connect to a server within some seconds. See `ports.servers.Connect`."""
    quieten()
    auth = await asyncio.to_thread(find_login, spec, logins) if spec.url else None
    with StderrTail() as tail:
        gone = anyio.Event()
        statuses: list[int] = []  # of HTTP, which the SDK's errors do not name
        was_ready = False
        try:
            with (
                anyio.CancelScope(deadline=anyio.current_time() + seconds) as scope,
                _cancel_at(leaving, scope) as stop_watching,
            ):
                transport = (
                    open_http(spec, statuses, auth) if spec.url else _open_program(spec, tail, gone)
                )
                info = Implementation(name="ragforge", version=version)
                async with Client(
                    transport,
                    client_info=info,
                    cache=None,
                    elicitation_callback=make_callback(spec.name, answer),
                ) as client:
                    connection = SdkConnection(spec.name, client, gone)
                    connection.offer = await connection.list_offer()
                    scope.deadline = math.inf
                    stop_watching()
                    was_ready = True
                    yield connection
        except Exception as error:
            if was_ready and gone.is_set():
                raise ServerGone(spec.name, _explain("it has ended", tail)) from error
            problem = describe_failure(error, spec, statuses)
            raise ServerError(spec.name, _explain(problem, tail)) from error
        if not was_ready:
            problem = f"it did not answer within {seconds:g} seconds"
            raise ServerError(spec.name, _explain(problem, tail))


@contextmanager
def _cancel_at(leaving: asyncio.Event, scope: anyio.CancelScope) -> Iterator[Callable[[], object]]:
    """Cancel a scope when the user leaves; yield what ends that."""
    watching = asyncio.ensure_future(leaving.wait())
    watching.add_done_callback(lambda done: None if done.cancelled() else scope.cancel())
    try:
        yield watching.cancel
    finally:
        watching.cancel()


@dataclass
class SdkConnection:
    """A connection through the SDK's client."""

    name: str
    client: Client
    gone: anyio.Event
    offer: ServerOffer = field(default_factory=ServerOffer)

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> str:
        result = await self._ask(lambda: self.client.call_tool(tool, dict(arguments)))
        text = format_result(result)
        if result.is_error:
            raise ServerError(self.name, text or f"{tool} failed and did not say why")
        return text

    async def read(self, uri: str) -> str:
        return format_resource(await self._ask(lambda: self.client.read_resource(uri)))

    async def word_prompt(self, prompt: str, arguments: Mapping[str, str]) -> str:
        given = dict(arguments)
        return format_prompt(await self._ask(lambda: self.client.get_prompt(prompt, given)))

    async def wait_until_gone(self) -> None:
        await self.gone.wait()

    async def list_offer(self) -> ServerOffer:
        """Return all that the server offers; what it does not know it offers none of."""
        can = self.client.server_capabilities
        tools = await _list_all(self.client.list_tools, "tools") if can.tools else []
        resources = (
            await _list_all(self.client.list_resources, "resources") if can.resources else []
        )
        prompts = await _list_all(self.client.list_prompts, "prompts") if can.prompts else []
        return ServerOffer(
            tuple(
                ServerTool(one.name, one.description or one.title or "", one.input_schema)
                for one in _select_printable(tools)
            ),
            tuple(
                ServerResource(one.uri, one.title or one.name)
                for one in resources
                if one.uri.isprintable()
            ),
            tuple(
                ServerPrompt(
                    one.name,
                    one.description or one.title or "",
                    tuple(argument.name for argument in one.arguments or ()),
                    tuple(argument.name for argument in one.arguments or () if argument.required),
                )
                for one in _select_printable(prompts)
            ),
        )

    async def _ask(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            return await ask()
        except MCPError as error:
            if error.code == CONNECTION_CLOSED or error.message == _ENDED_SESSION:
                self.gone.set()
                raise ServerGone(self.name, "it has ended") from error
            raise ServerError(self.name, shorten_end(error.message, PROBLEM_CHARS)) from error
        except OAuthFlowError as error:
            raise ServerError(self.name, explain_login(self.name)) from error
        except (ValidationError, RuntimeError) as error:
            problem = shorten_end(" ".join(str(error).split()), PROBLEM_CHARS)
            raise ServerError(self.name, f"its answer is not understood: {problem}") from error


@asynccontextmanager
async def open_http(
    spec: ServerSpec, statuses: list[int], auth: httpx2.Auth | None
) -> AsyncIterator[Any]:
    """Open the streams to an address, and note the status of each answer."""

    async def note(response: httpx2.Response) -> None:
        statuses[:] = [response.status_code]

    client = httpx2.AsyncClient(
        headers=dict(spec.headers),
        timeout=HTTP_TIMEOUT,
        event_hooks={"response": [note]},
        auth=auth,
    )
    async with client, streamable_http_client(spec.url, http_client=client) as streams:
        yield streams


@asynccontextmanager
async def _open_program(
    spec: ServerSpec, tail: StderrTail, gone: anyio.Event
) -> AsyncIterator[Any]:
    """Start a program and open the streams to it; notice when it ends."""
    hide_process()
    # The environment: what the SDK holds to be safe, and what the configuration names.
    server = StdioServerParameters(
        command=spec.command, args=list(spec.args), env=dict(spec.env), cwd=spec.cwd or None
    )
    async with stdio_client(server, errlog=tail.file) as (read, write):
        tail.release()
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

        async def follow() -> None:
            async with send:
                async for message in read:
                    await send.send(message)
            gone.set()

        async with anyio.create_task_group() as tasks, receive:
            tasks.start_soon(follow)
            try:
                yield receive, write
            finally:
                tasks.cancel_scope.cancel()


async def _list_all(fetch: Callable[..., Awaitable[Any]], what: str) -> list[Any]:
    """Return all pages of a list, up to a limit: a server may never come to an end."""
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        try:
            page = await fetch(cursor=cursor)
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND:
                break
            raise
        found += getattr(page, what)
        cursor = page.next_cursor
        if cursor is None or len(found) >= MAX_LISTED:
            break
    return found[:MAX_LISTED]


def _select_printable(offered: Iterable[Any]) -> list[Any]:
    """Return what has a name that can be shown; the first of each name."""
    return list({one.name: one for one in reversed(list(offered)) if _is_shown(one.name)}.values())[
        ::-1
    ]


def _is_shown(name: str) -> bool:
    return bool(name) and len(name) <= 128 and name.isprintable()


def describe_failure(error: BaseException, spec: ServerSpec, statuses: Sequence[int]) -> str:
    """Return why a connection failed, in a few words."""
    cause: BaseException = error
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    wants_login = spec.url and statuses[-1:] == [401] and not has_own_key(spec)
    if isinstance(cause, OAuthFlowError) or wants_login:
        return explain_login(spec.name)
    if isinstance(cause, FileNotFoundError | PermissionError) and spec.command:
        return f"{spec.command!r} cannot be started: {cause.strerror}"
    if isinstance(cause, MCPError) and cause.code == CONNECTION_CLOSED and not spec.url:
        return "it ended before it answered"
    message = cause.message if isinstance(cause, MCPError) else str(cause)
    text = " ".join(message.split()) or type(cause).__name__
    if not spec.url:
        return text
    parts = urlsplit(spec.url)
    host = parts.netloc.rpartition("@")[2]
    address = f"{parts.scheme}://{host}{parts.path}"  # the rest may be a password or a key
    if statuses and statuses[-1] >= httpx2.codes.MULTIPLE_CHOICES:
        return f"{address} answers with HTTP {statuses[-1]}: {text}"
    return f"{address} cannot be used: {text}"


def _explain(problem: str, tail: StderrTail) -> str:
    tail.release()
    last = tail.find()
    return shorten_end(f"{problem}; its last words: {last}" if last else problem, PROBLEM_CHARS)


def quieten() -> None:
    """Keep what the SDK logs out of the log: messages may hold what a user asked."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)


def format_result(result: CallToolResult) -> str:
    """Return what a tool says; structured data where it says nothing else."""
    text = _join(_format_block(block) for block in result.content)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    return keep_beginning(text, MAX_CHARS)


def format_resource(result: ReadResourceResult) -> str:
    """Return the text of a resource."""
    return keep_beginning(_join(map(_format_contents, result.contents)), MAX_CHARS)


def format_prompt(result: GetPromptResult) -> str:
    """Return the text of a prompt; the model's words are marked."""
    texts = [
        (f"(assistant) {text}" if message.role == "assistant" else text)
        for message in result.messages
        if (text := _format_block(message.content))
    ]
    return keep_beginning(_join(texts), MAX_CHARS)


def _format_block(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent():
            return _name("image", block.mime_type, block.data)
        case AudioContent():
            return _name("sound", block.mime_type, block.data)
        case EmbeddedResource():
            return _format_contents(block.resource)
        case ResourceLink():
            return f"(resource {block.uri}: {block.description or block.title or block.name})"


def _format_contents(contents: TextResourceContents | BlobResourceContents) -> str:
    if isinstance(contents, TextResourceContents):
        return contents.text
    kind = contents.mime_type or "unknown type"
    return _name(f"data of {contents.uri}", kind, contents.blob)


def _name(what: str, kind: str, data: str) -> str:
    return f"({what}, {kind}, about {round(len(data) * _BASE64_SHARE):,} bytes, left out)"


def _join(texts: Iterable[str]) -> str:
    return "\n".join(text for text in texts if text)


class StderrTail:
    """A pipe whose end is read all the time: a server that writes much is not held up."""

    def __init__(self) -> None:
        self._read, write = os.pipe()
        self.file: TextIO = os.fdopen(write, "w")
        self._tail = b""
        self._thread = threading.Thread(target=self._follow, daemon=True, name="server-stderr")

    def __enter__(self) -> StderrTail:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Close our end: the pipe ends with the server."""
        with suppress(OSError):
            self.file.close()

    def find(self) -> str:
        """Return the last line that says something; empty if there is none."""
        self._thread.join(0.2)  # a server that has just ended may have written just before
        lines = [line.strip() for line in self._tail.decode(errors="replace").splitlines()]
        return next((line for line in reversed(lines) if line), "")

    def _follow(self) -> None:
        with suppress(OSError):
            while data := os.read(self._read, 65_536):
                self._tail = (self._tail + data)[-KEPT:]
        with suppress(OSError):
            os.close(self._read)
