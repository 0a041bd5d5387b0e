"""Sessions: the conversations of a working directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragforge.domain.conversations import Conversation, ConversationFilter
from ragforge.ports.conversations import ConversationStore


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A session as a list shows it."""

    conversation: Conversation
    last_message: str


def normalise(cwd: Path) -> Path:
    """Return the one name of a directory: without links, `..` and trailing slashes."""
    return cwd.expanduser().resolve()


def project_of(cwd: Path) -> Path:
    """Return the project a directory belongs to: the nearest git tree, or itself."""
    for folder in (cwd, *cwd.parents):
        if (folder / ".git").exists():
            return folder
    return cwd


async def current(store: ConversationStore, cwd: Path, project: Path) -> Conversation:
    """Return the last active session of exactly this directory, or a new one."""
    known = await store.find(ConversationFilter(cwd=str(cwd), status="active"), limit=1)
    if known:
        return known[0]
    conversation = Conversation(cwd=str(cwd), project_path=str(project))
    await store.create(conversation)
    return conversation


async def lines(
    store: ConversationStore, where: ConversationFilter, limit: int
) -> list[SessionLine]:
    """Return sessions with the last thing said in each, the last active first."""
    found = []
    for conversation in await store.find(where, limit):
        latest = await store.latest_messages(conversation.uuid, 1)
        found.append(SessionLine(conversation, latest[0].content if latest else ""))
    return found
