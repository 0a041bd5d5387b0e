"""Sessions: the conversations of a working directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragforge.domain.conversations import Conversation, ConversationChanges, ConversationFilter
from ragforge.ports.conversations import ConversationStore

TITLE_CHARS = 60


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


async def give_title(store: ConversationStore, conversation_id: str) -> None:
    """Name an untitled session after its first question."""
    conversation = await store.get(conversation_id)
    first_turn = await store.messages(conversation_id, first_turn=0, limit=1)
    if conversation.title is None and first_turn:
        title = shorten(first_turn[0].content, TITLE_CHARS)
        await store.update(conversation_id, ConversationChanges(title=title))


def shorten(text: str, chars: int) -> str:
    """Return the text on one line, cut at a word where possible."""
    line = " ".join(text.split())
    if len(line) <= chars:
        return line
    cut = line[: chars - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[chars // 2 :] else cut) + "…"
