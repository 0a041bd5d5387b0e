"""A conversing program: the library in a project, with a scripted model behind real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from ragforge import ConversationAgent, load_settings
from tests.fakes.chat_server import Aside, ChatServer, Step
from tests.fakes.wires import Call, OpenAiWire, Says

TITLE = Says('{"title": "A talk"}')


def with_model(environ: Mapping[str, str], server: ChatServer) -> dict[str, str]:
    """Return the variables that point RagForge at a local provider."""
    return {
        **environ,
        "RAGFORGE_LLM__MODEL": f"{server.wire.provider}:{server.wire.model}",
        "RAGFORGE_LLM__BASE_URL": server.base_url,
    }


@asynccontextmanager
async def talking(
    environ: Mapping[str, str], project: Path, script: Sequence[Step], aside: Aside = TITLE
) -> AsyncIterator[tuple[ConversationAgent, ChatServer]]:
    """Open an agent whose model says what the script has for it."""
    async with ChatServer(OpenAiWire(), script, aside) as server:
        settings = load_settings(project, environ=with_model(environ, server)).settings
        async with await ConversationAgent.open(settings, project) as agent:
            yield agent, server


def call(name: str, id: str = "call-1", /, **arguments: object) -> Call:
    """Return a tool call as a model makes it."""
    return Call(name, arguments, id)
