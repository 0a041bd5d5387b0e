"""Sessions: create, list, find, name, branch and change conversations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias, TypeVar

from ragforge.domain.conversations import (
    Conversation,
    ConversationFilter,
    Identity,
    Message,
)
from ragforge.domain.kinds import Filter, Kind
from ragforge.domain.notes import Note
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.errors import AmbiguousId, InputError
from ragforge.folders import find_project
from ragforge.ports.store import Records, Store
from ragforge.records import dataclass

BRANCHES = "ref: refs/heads/"


Named = TypeVar("Named", Conversation, Note)

CANDIDATES = 5


TitleMaker: TypeAlias = Callable[[Turn], Awaitable[str]]

TITLE_CHARS = 60


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A session with its last message, as shown in a list."""

    conversation: Conversation
    last_message: str

    @property
    def started_at(self) -> datetime:
        return self.conversation.created_at

    @property
    def last_activity(self) -> datetime:
        return self.conversation.updated_at

    @property
    def turn_count(self) -> int:
        return self.conversation.turn_count


@dataclass(frozen=True, slots=True)
class Session:
    """A session with all its messages."""

    conversation: Conversation
    messages: tuple[Message, ...]

    @property
    def turns(self) -> list[Turn]:
        return group_into_turns(self.messages)


def normalise(cwd: Path) -> Path:
    """Return the canonical path of a directory: without links, `..` and trailing slashes."""
    return cwd.expanduser().resolve()


async def create_session(
    store: Store,
    cwd: Path,
    project: ProjectPlace | None = None,
    identity: Identity | None = None,
) -> Conversation:
    """Begin a user's session in a directory, for the given project or the directory's own."""
    place = normalise(cwd)
    project = project or ProjectPlace.at(str(find_project(place)))
    branch = read_branch(Path(project.path))
    new = Conversation(str(place), project.path, project_id=project.id, git_branch=branch)
    conversation = sign(new, identity)
    await store.records.put(CONVERSATION, conversation)
    return conversation


def read_branch(root: Path) -> str | None:
    """Return the branch that is checked out in a folder; None if there is none to be read."""
    git = root / ".git"
    try:
        if git.is_file():  # of a work tree
            git = root / git.read_text("utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text("utf-8").strip()
    except (OSError, ValueError):
        return None
    return head.removeprefix(BRANCHES) if head.startswith(BRANCHES) else None


async def get_sessions_by_cwd(store: Store, cwd: Path, limit: int = 50) -> list[SessionLine]:
    """Return the sessions of exactly this directory, the last active first."""
    where = ConversationFilter(cwd=str(normalise(cwd)))
    return await add_last_messages(store, await store.records.find(CONVERSATION, where, limit))


async def load_session(store: Store, conversation_id: str) -> Session:
    """Return a session with all its messages. Raises ConversationNotFound."""
    conversation = await store.records.get(CONVERSATION, conversation_id)
    return Session(conversation, tuple(await store.timeline.messages(conversation_id)))


async def add_last_messages(store: Store, found: Sequence[Conversation]) -> list[SessionLine]:
    """Return sessions with their last messages, in the given order."""
    texts = await store.timeline.last_texts([one.uuid for one in found])
    return [SessionLine(one, texts.get(one.uuid, "")) for one in found]


def sign(conversation: Conversation, identity: Identity | None) -> Conversation:
    """Return a new conversation as a user's, with their default visibility."""
    if identity is None:
        return conversation
    return replace(
        conversation,
        author=identity.author,
        host=conversation.host or identity.host,
        visibility=identity.visibility,
    )


def clean_title(title: str) -> str:
    """Return a title as it is stored: on one line, with secrets redacted."""
    from ragforge.memory.secrets.redact import redact  # its patterns take a while to compile

    return redact(" ".join(title.split()))


async def resolve_id(
    records: Records,
    kind: Kind[Named, Filter],
    name: str,
    text: str,
    filter_prefix: Callable[[str], Filter],
    describe: Callable[[Named], str],
) -> Named:
    """Return the thing with this id, or the only one whose id starts with the text.

    Raises InputError for an empty text, a NotFound, or AmbiguousId with the candidates.
    """
    wanted = text.strip()
    if not wanted:
        raise InputError(f"The id of the {name} is empty. Give the start of one.")
    found = await records.find(kind, filter_prefix(wanted), CANDIDATES + 1)
    if len(found) == 1:
        return found[0]
    try:
        return await records.get(kind, wanted)
    except kind.missing:
        if not found:
            raise
    shown = sorted(format_candidate(one.uuid, describe(one)) for one in found[:CANDIDATES])
    raise AmbiguousId(name, wanted, shown + ["…"] * (len(found) > CANDIDATES))


def format_candidate(uuid: str, description: str) -> str:
    """Return an id with the beginning of its description."""
    return f"{uuid} ({' '.join(description.split())[:40]})"


async def give_title(store: Store, conversation_id: str, make: TitleMaker) -> None:
    """Name a session that has no title yet, and gets none from the user meanwhile."""
    if (await store.records.get(CONVERSATION, conversation_id)).title is not None:
        return
    messages = await store.timeline.messages(
        conversation_id, first_turn=0, limit=20, with_receipts=False
    )
    if turns := group_into_turns(messages):
        title = await make(turns[0])

        def name(found: Conversation) -> Conversation:  # a model takes its time
            return replace(found, title=title) if found.title is None else found

        await store.records.update(CONVERSATION, conversation_id, name)


async def title_from_question(turn: Turn) -> str:
    """Return the first words of the question."""
    return shorten_to_title(turn.user.content, TITLE_CHARS)


def shorten_to_title(text: str, chars: int) -> str:
    """Return the text on one line, cut at a word where possible."""
    line = " ".join(text.split())
    if len(line) <= chars:
        return line
    cut = line[: chars - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[chars // 2 :] else cut) + "…"
