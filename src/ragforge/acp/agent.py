"""Agent: what an editor can ask of RagForge, request by request."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias, cast

from acp import run_agent, schema
from acp.interfaces import Agent, Client

from ragforge.acp.offers import describe_session, introduce
from ragforge.acp.question import Block
from ragforge.acp.session import Apps, EditorSession, find_folder
from ragforge.acp.texts import fail_with_sentences
from ragforge.app import App
from ragforge.config import Settings
from ragforge.config.mcp_client import check_servers, list_user_specs
from ragforge.domain.conversations import Conversation
from ragforge.domain.mcp_client import ServerSpec
from ragforge.errors import InputError

Offered: TypeAlias = (
    schema.HttpMcpServer | schema.SseMcpServer | schema.AcpMcpServer | schema.McpServerStdio
)

ORIGIN = "your editor"
_REFUSED = re.compile(r"[^A-Za-z0-9-]+")
_NAME_CHARS = 30

logger = logging.getLogger(__name__)


def list_specs(offered: Sequence[Offered] | None, folder: Path) -> Iterator[ServerSpec]:
    """Yield how the servers of an editor are reached, or why one cannot be."""
    for one in offered or ():
        name = _REFUSED.sub("-", one.name).strip("-")[:_NAME_CHARS] or "server"
        entry: dict[str, Any]
        match one:
            case schema.McpServerStdio():
                variables = {variable.name: variable.value for variable in one.env}
                entry = {"command": one.command, "args": one.args, "env": variables}
            case schema.HttpMcpServer():
                headers = {header.name: header.value for header in one.headers}
                entry = {"url": one.url, "headers": headers}
            case _:
                problem = f"MCP servers of the type {one.type} cannot be used"
                yield ServerSpec(name, ORIGIN, problem=problem)
                continue
        try:
            yield from list_user_specs(check_servers({name: entry}), ORIGIN, str(folder))
        except ValueError as error:
            yield ServerSpec(name, ORIGIN, problem=f"the editor {error}")


Servers: TypeAlias = Sequence[Offered] | None
LISTED = 200


class EditorAgent:
    """RagForge as the agent of one editor, with the sessions that it has open."""

    def __init__(self, apps: Apps, version: str) -> None:
        self._apps = apps
        self._version = version
        self._sessions: dict[str, EditorSession] = {}
        self._client: Client | None = None
        self._offered_files = schema.FileSystemCapabilities()
        self._following: set[asyncio.Task[None]] = set()

    def on_connect(self, client: Client) -> None:
        self._client = client

    @fail_with_sentences
    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        **more: Any,
    ) -> schema.InitializeResponse:
        if client_capabilities is not None and client_capabilities.fs is not None:
            self._offered_files = client_capabilities.fs
        sees = await asyncio.to_thread(self._apps.has_model)
        return introduce(self._version, sees=sees)

    @fail_with_sentences
    async def new_session(
        self, cwd: str, mcp_servers: Servers = None, **more: Any
    ) -> schema.NewSessionResponse:
        app = await self._apps.open(cwd)
        session = self._keep(self._make(app, app.sessions.make_new()), mcp_servers)
        return schema.NewSessionResponse(session_id=session.id, modes=await session.list_modes())

    @fail_with_sentences
    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Servers = None, **more: Any
    ) -> schema.LoadSessionResponse:
        """Open a stored session and send its history."""
        session = self._keep(await self._open(cwd, session_id), mcp_servers)
        await session.show_history(self._get_client())
        return schema.LoadSessionResponse(modes=await session.list_modes())

    @fail_with_sentences
    async def resume_session(
        self, cwd: str, session_id: str, mcp_servers: Servers = None, **more: Any
    ) -> schema.ResumeSessionResponse:
        """Open a stored session whose history the editor has."""
        session = self._keep(await self._open(cwd, session_id), mcp_servers)
        return schema.ResumeSessionResponse(modes=await session.list_modes())

    @fail_with_sentences
    async def fork_session(
        self, cwd: str, session_id: str, mcp_servers: Servers = None, **more: Any
    ) -> schema.ForkSessionResponse:
        """Begin a session with everything that was said in another."""
        source = await self._open(cwd, session_id)
        app = source.app
        if source.is_stored and (facts := await app.sessions.load(source.id)).turn_count:
            made = await app.sessions.branch(facts, str(facts.turn_count - 1))
            session = self._make(app, made, is_stored=True)
        else:
            session = self._make(app, app.sessions.make_new())
        session.mode = source.mode
        self._keep(session, mcp_servers)
        return schema.ForkSessionResponse(session_id=session.id, modes=await session.list_modes())

    @fail_with_sentences
    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **more: Any
    ) -> schema.ListSessionsResponse:
        """Return the sessions of a folder, or of all, the last active first."""
        app = await self._apps.open(cwd or str(Path.cwd()))
        found = await app.sessions.find(limit=LISTED, everywhere=cwd is None)
        folder = None if cwd is None else str(find_folder(cwd))
        shown = [one for one in found if one.turn_count and folder in (None, one.cwd)]
        return schema.ListSessionsResponse(sessions=[describe_session(one) for one in shown])

    @fail_with_sentences
    async def close_session(self, session_id: str, **more: Any) -> schema.CloseSessionResponse:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            await session.cancel()
        return schema.CloseSessionResponse()

    @fail_with_sentences
    async def set_session_mode(
        self, session_id: str, mode_id: str, **more: Any
    ) -> schema.SetSessionModeResponse:
        session = self._get(session_id)
        session.mode = await asyncio.to_thread(session.app.require_mode, mode_id)
        return schema.SetSessionModeResponse()

    @fail_with_sentences
    async def prompt(
        self, session_id: str, prompt: list[Block], **more: Any
    ) -> schema.PromptResponse:
        session = self._get(session_id)
        return await session.answer(prompt, self._get_client(), self._offered_files)

    async def cancel(self, session_id: str, **more: Any) -> None:
        if (session := self._sessions.get(session_id)) is not None:
            await session.cancel()

    def _get(self, session_id: str) -> EditorSession:
        if (session := self._sessions.get(session_id)) is None:
            raise InputError(f"No session {session_id!r} is open. Load it first.")
        return session

    def _get_client(self) -> Client:
        if self._client is None:
            raise InputError("No editor is connected.")
        return self._client

    async def _open(self, cwd: str, session_id: str) -> EditorSession:
        """Return a session that is open already, or a stored one."""
        if session_id in self._sessions:
            return self._sessions[session_id]
        app = await self._apps.open(cwd)
        return self._make(app, await app.sessions.load(session_id), is_stored=True)

    def _make(
        self, app: App, conversation: Conversation, *, is_stored: bool = False
    ) -> EditorSession:
        return EditorSession(app, conversation, is_stored, self._apps.reopen)

    def _keep(self, session: EditorSession, servers: Servers) -> EditorSession:
        """Keep a session open, and offer its commands once the editor knows its id."""
        self._sessions[session.id] = session
        session.use_servers(tuple(list_specs(servers, session.app.project_path)))
        task = asyncio.create_task(self._offer_commands(session))
        self._following.add(task)
        task.add_done_callback(self._following.discard)
        return session

    async def _offer_commands(self, session: EditorSession) -> None:
        with suppress(ConnectionError):  # the editor has left
            await self._get_client().session_update(session.id, await session.list_commands())


async def serve(
    load: Callable[[Path], Settings],
    version: str,
    lines: AsyncIterator[bytes | None],
    send: Callable[[bytes], None],
) -> None:
    """Answer an editor until its lines end. A turn that still runs is kept as far as it got."""
    apps = Apps(load)
    # The SDK's protocol lists every request there can be; those left out are refused by it.
    agent = cast(Agent, EditorAgent(apps, version))
    try:
        await run_agent(agent, LineTransport(lines, send), use_unstable_protocol=True)
    finally:
        await apps.close()


class LineTransport:
    """Reads and writes one message a line, for a connection of the SDK.

    `send` hands a message over at once: messages leave in the order in which they are sent.
    """

    def __init__(self, lines: AsyncIterator[bytes | None], send: Callable[[bytes], None]) -> None:
        self._lines = lines
        self._send = send
        self._is_closed = False

    async def send(self, message: dict[str, Any]) -> None:
        if not self._is_closed:
            self._send(json.dumps(message).encode() + b"\n")

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None once there are no more."""
        async for line in self._lines:
            if line is not None and not line.strip():
                continue
            try:
                message = json.loads(line or b"")
            except ValueError:
                logger.warning(
                    "Skipped a line of the editor that is not a message, or is too long."
                )
                continue
            if isinstance(message, dict):
                return message
        return None

    async def close(self) -> None:
        self._is_closed = True
