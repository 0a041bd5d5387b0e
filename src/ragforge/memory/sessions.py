"""Sessions: create, list, find, name, branch and change conversations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias, TypeVar

from ragforge.domain.authors import Identity
from ragforge.domain.conversations import (
    SHORT_ID,
    Conversation,
    ConversationChanges,
    ConversationFilter,
    Message,
)
from ragforge.domain.kinds import Filter, Kind
from ragforge.domain.notes import Note
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.errors import AmbiguousId, InputError
from ragforge.folders import find_project
from ragforge.ports.records import Records
from ragforge.ports.store import Store
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
    return await list_sessions(store, ConversationFilter(cwd=str(normalise(cwd))), limit)


async def load_session(store: Store, conversation_id: str) -> Session:
    """Return a session with all its messages. Raises ConversationNotFound."""
    conversation = await store.records.get(CONVERSATION, conversation_id)
    return Session(conversation, tuple(await store.timeline.messages(conversation_id)))


async def list_sessions(store: Store, where: ConversationFilter, limit: int) -> list[SessionLine]:
    """Return sessions with their last messages, the last active first."""
    return await add_last_messages(store, await store.records.find(CONVERSATION, where, limit))


async def add_last_messages(store: Store, found: Sequence[Conversation]) -> list[SessionLine]:
    """Return sessions with their last messages, in the given order."""
    texts = await store.timeline.last_texts([one.uuid for one in found])
    return [SessionLine(one, texts.get(one.uuid, "")) for one in found]


async def resolve_session(store: Store, text: str) -> Conversation:
    """Return the session with this id, or the only one whose id starts with the text.

    Raises ConversationNotFound, or AmbiguousId with the candidates.
    """
    return await resolve_id(
        store.records,
        CONVERSATION,
        "session",
        text,
        lambda prefix: ConversationFilter(prefix=prefix),
        lambda one: one.title or one.cwd,
    )


async def branch(
    store: Store,
    source: Conversation,
    point: str,
    title: str | None = None,
    identity: Identity | None = None,
) -> Conversation:
    """Branch a session after a turn, given by its index, or a message, by (the start of) its id.

    The new session belongs to the same directory and contains everything up to that point. It is
    that of whoever branches, whosever the other is.
    Raises InputError if there is no such turn or message, AmbiguousId.
    """
    messages = await store.timeline.messages(source.uuid, with_receipts=False)
    message = _find_message(source, messages, point.strip())
    if title is not None:
        title = clean_title(title)
    elif source.title is not None:
        title = f"{source.title} (branch)"
    into = Conversation(
        source.cwd,
        source.project_path,
        title=title,
        tags=source.tags,
        project_id=source.project_id,
    )
    return await store.timeline.branch(message.uuid, sign(into, identity))


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


def _find_message(source: Conversation, messages: Sequence[Message], text: str) -> Message:
    if text.isdecimal() and text.isascii():
        of_turn = [message for message in messages if message.turn_index == int(text)]
        if of_turn:
            return of_turn[-1]
    starting = [message for message in messages if text and message.uuid.startswith(text)]
    exact = [message for message in starting if message.uuid == text]
    if len(starting) == 1 or exact:
        return (exact or starting)[0]
    if starting:
        shown = starting[:CANDIDATES]
        candidates = [format_candidate(one.uuid, f"turn {one.turn_index}") for one in shown]
        raise AmbiguousId("message", text, candidates)
    turns = [str(message.turn_index) for message in messages if message.role == "user"]
    known = f"Its turns are {turns[0]} to {turns[-1]}" if turns else "It is empty"
    raise InputError(
        f"Session {source.uuid[:SHORT_ID]} has no turn or message {text!r}. {known}; "
        f"`ragforge sessions show {source.uuid[:SHORT_ID]}` lists them."
    )


async def retag(
    store: Store,
    conversation: Conversation,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    force: bool = False,
) -> Conversation:
    """Add tags to a session and remove others. Raises InputError for an empty tag."""
    if not all(tag.strip() for tag in (*add, *remove)):
        raise InputError("A tag is empty. Give it a name.")
    gone = {tag.strip() for tag in remove}
    tags = [tag for tag in conversation.tags if tag not in gone]
    tags += [tag.strip() for tag in add]
    changes = ConversationChanges(tags=tuple(dict.fromkeys(tags)))
    return await store.records.update(CONVERSATION, conversation.uuid, changes, force)


async def rename(
    store: Store, conversation: Conversation, title: str, force: bool = False
) -> Conversation:
    """Give a session another title, on one line. Raises InputError if it is empty."""
    line = clean_title(title)
    if not line:
        raise InputError("The title is empty. Give the session a name.")
    changes = ConversationChanges(title=line)
    return await store.records.update(CONVERSATION, conversation.uuid, changes, force)


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
