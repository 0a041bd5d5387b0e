"""An editor: the SDK's own client, with a user who answers as a test wants."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

SDK = "no ACP client: the package agent-client-protocol is not installed"


class Editor:
    """Keeps what it receives. Its user gives the answers in `choices`, in order."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.requests: list[Any] = []  # for permission: the call and the options
        self.choices: list[str] = []  # kinds of options
        self.unsaved: dict[str, str] = {}  # texts by path
        self.written: list[str] = []  # paths
        self.news = asyncio.Event()  # set with every update

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        self.updates.append(update)
        self.news.set()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **more: Any
    ) -> Any:
        schema = pytest.importorskip("acp.schema", reason=SDK)
        self.requests.append((tool_call, options))
        wanted = self.choices.pop(0)
        self.news.set()
        if wanted == "wait":
            await asyncio.Event().wait()
        chosen = next(one.option_id for one in options if one.kind == wanted)
        outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def read_text_file(self, session_id: str, path: str, **more: Any) -> Any:
        schema = pytest.importorskip("acp.schema", reason=SDK)
        text = self.unsaved.get(path)
        return schema.ReadTextFileResponse(content=Path(path).read_text() if text is None else text)

    async def write_text_file(self, session_id: str, path: str, content: str, **more: Any) -> Any:
        self.unsaved.pop(path, None)
        self.written.append(path)
        Path(path).write_text(content.replace("'", '"'))  # it formats what it saves

    def on_connect(self, agent: Any) -> None:
        pass

    def list(self, kind: str) -> list[Any]:
        """Return the updates of one kind, in their order."""
        return [one for one in self.updates if one.session_update == kind]

    def read(self, kind: str = "agent_message_chunk") -> str:
        """Return the text of all updates of one kind."""
        return "".join(one.content.text for one in self.list(kind))

    async def wait_for_request(self) -> None:
        """Return once permission is asked for."""
        while not self.requests:
            self.news.clear()
            await self.news.wait()

    async def wait_for(self, kind: str, text: str = "") -> None:
        """Return once an update of this kind has come, with this text among all of its kind."""
        while not self.list(kind) or (text and text not in self.read(kind)):
            self.news.clear()
            await self.news.wait()


@asynccontextmanager
async def open_editor(
    environ: Mapping[str, str], *, with_files: bool = False
) -> AsyncIterator[tuple[Editor, Any]]:
    """Start `ragforge acp` as an editor does; yield the editor and its connection."""
    sdk = pytest.importorskip("acp", reason=SDK)
    editor = Editor()
    async with sdk.spawn_agent_process(
        editor,
        sys.executable,
        *("-m", "ragforge", "acp"),
        env={**environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=Path.home(),
        transport_kwargs={"shutdown_timeout": 120.0},  # no test depends on a fast machine
        use_unstable_protocol=True,
    ) as (connection, _):
        schema = pytest.importorskip("acp.schema", reason=SDK)
        files = schema.FileSystemCapabilities(read_text_file=with_files, write_text_file=with_files)
        await connection.initialize(
            protocol_version=sdk.PROTOCOL_VERSION,
            client_capabilities=schema.ClientCapabilities(fs=files),
        )
        yield editor, connection
