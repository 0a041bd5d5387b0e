"""Sessions: the conversations of a directory, found, changed and moved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ragforge.app.wiring.projects import find_repository, open_git, place_import
from ragforge.domain.conversations import (
    AGENT,
    SHORT_ID,
    Conversation,
    ConversationChanges,
    ConversationFilter,
    ConversationStatus,
    Identity,
    Message,
    Visibility,
)
from ragforge.domain.instants import latest_plausible
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.turns import Turn, group_into_turns, name_turn_model
from ragforge.errors import AmbiguousId, ConversationNotFound, InputError
from ragforge.memory import sessions
from ragforge.memory.sessions import SessionLine
from ragforge.private_files import replace_file
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.domain.projects import ProjectPlace
    from ragforge.domain.receipts import Receipt
    from ragforge.domain.text import Json
    from ragforge.memory.code.about import ConversationAbout, TouchedCode
    from ragforge.memory.code.changes import CodeState, Commit
    from ragforge.memory.export_format.reader import ImportResult
    from ragforge.memory.history import SessionDetail, TurnState
    from ragforge.memory.search.similar import SimilarConversation
    from ragforge.originals.files import OriginalFiles
    from ragforge.ports.models import Embedder
    from ragforge.ports.store import Store

# For the doors, from the rooms below.
__all__ = [
    "CodeState",
    "Commit",
    "ConversationAbout",
    "SessionDetail",
    "SessionLine",
    "SimilarConversation",
    "TouchedCode",
    "TurnState",
]

LISTED = 50


class HasId(Protocol):
    """A conversation that a program holds."""

    @property
    def id(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Relatives:
    """The sessions that a session comes from, and those that come from it."""

    parent: Conversation | None = None  # whose agent started it
    started: Sequence[Conversation] = ()  # by its agent, the last active first
    origin: Conversation | None = None  # of which it is a branch
    branches: Sequence[Conversation] = ()


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of one store, seen from a directory and its project."""

    store: Store
    cwd: Path
    project: ProjectPlace
    embedder: Embedder | None
    identity: Identity
    open_originals: Callable[[], OriginalFiles] | None = None  # transcripts that were kept

    async def find_current(self) -> Conversation | None:
        """Return the user's last active session of this directory, if there is one.

        One from the future was used while the clock was wrong; others are preferred.
        """
        where = ConversationFilter(cwd=str(self.cwd), status="active", own=True, agent=AGENT)
        plausible = replace(where, until=latest_plausible())
        find = self.store.records.find
        found = await find(CONVERSATION, plausible, 1) or await find(CONVERSATION, where, 1)
        return found[0] if found else None

    async def ensure_current(self) -> Conversation:
        """Return the last active session of this directory, or a new one."""
        return await self.find_current() or await self.create()

    def make_new(self) -> Conversation:
        """Return an empty session of this directory, which is not stored."""
        return Conversation(str(self.cwd), self.project.path, project_id=self.project.id)

    async def store_new(self, session: Conversation) -> Conversation:
        """Store a session that `make_new` returned, as the user's; return it as it is stored."""
        signed = sessions.sign(session, self.identity)
        await self.store.records.put(CONVERSATION, signed)
        return signed

    async def create(self, title: str | None = None, tags: Sequence[str] = ()) -> Conversation:
        """Begin a session in this directory. Secrets in its title are redacted."""
        made = await sessions.create_session(self.store, self.cwd, self.project, self.identity)
        if title is None and not tags:
            return made
        line = None if title is None else sessions.clean_title(title)
        return await self._change(made, title=line, tags=tuple(tags) or None)

    async def find(
        self,
        status: ConversationStatus | None = "active",
        tags: Sequence[str] = (),
        limit: int = LISTED,
        *,
        everywhere: bool = False,
        project_ids: Sequence[str] = (),
        agent: str | None = None,
        offset: int = 0,
    ) -> list[Conversation]:
        """Return the sessions of this project, the given ones, or all, the last active first."""
        projects = project_ids or (None if everywhere else self.project.ids)
        where = ConversationFilter(
            project_ids=projects, status=status, tags=tuple(tags), agent=agent
        )
        return await self.store.records.find(CONVERSATION, where, limit, offset)

    async def find_relatives(self, session: Conversation) -> Relatives:
        """Return the sessions that started a session or that it is a branch of, and the reverse."""
        find, uuid = partial(self.store.records.find, CONVERSATION), session.uuid
        origin = await find(ConversationFilter(origin_of=uuid), 1)
        parent = None
        if session.parent_id is not None:
            with suppress(ConversationNotFound):  # deleted since
                parent = await self.store.records.get(CONVERSATION, session.parent_id)
        return Relatives(
            parent,
            await find(ConversationFilter(parent_id=uuid), LISTED),
            origin[0] if origin else None,
            await find(ConversationFilter(branch_of=uuid), LISTED),
        )

    async def add_last_messages(self, found: Sequence[Conversation]) -> list[SessionLine]:
        """Return sessions with the last message of each, in the given order."""
        return await sessions.add_last_messages(self.store, found)

    async def load(self, conversation_id: str) -> Conversation:
        """Return the session with this id, or the only one whose id starts so.

        Raises ConversationNotFound, or AmbiguousId with the candidates.
        """
        return await sessions.resolve_id(
            self.store.records,
            CONVERSATION,
            "session",
            conversation_id,
            lambda prefix: ConversationFilter(prefix=prefix),
            lambda one: one.title or one.cwd,
        )

    async def resolve(self, start: str) -> Conversation:
        """Return the session whose id a user typed, or the start of it.

        Raises InputError if there is none, or more than one.
        """
        try:
            return await self.load(start)
        except ConversationNotFound as error:
            raise InputError(
                f"No session has an id that starts with {start.strip()!r}. "
                "`ragforge sessions list --all --status any` lists them."
            ) from error

    async def resolve_all(self, starts: Sequence[str]) -> list[Conversation]:
        """Return several sessions, each once. Raises InputError unless all of them exist."""
        found = [await self.resolve(start) for start in starts]
        return list({one.uuid: one for one in found}.values())

    async def resolve_id(self, conversation: str | HasId | None) -> str | None:
        """Return the id of a conversation, given by the start of its id or as an object."""
        if conversation is None:
            return None
        start = conversation if isinstance(conversation, str) else conversation.id
        return (await self.resolve(start)).uuid

    async def load_detail(self, start: str) -> SessionDetail:
        """Return everything about the session whose id starts so. Raises InputError."""
        from ragforge.memory.history import load_session_detail

        uuid = (await self.resolve(start)).uuid
        model = name_turn_model(self.embedder.name) if self.embedder else None
        return await load_session_detail(self.store, uuid, model)

    async def latest_turns(self, conversation: Conversation, count: int) -> list[Turn]:
        """Return the latest turns of a session, oldest first."""
        first = max(0, await self.count_turns(conversation) - count)
        messages = await self.store.timeline.messages(conversation.uuid, first, with_receipts=False)
        return group_into_turns(messages)

    async def count_turns(self, conversation: Conversation) -> int:
        """Return how many turns a session has, with those that it shares with its origin."""
        if conversation.agent == AGENT:  # it shares none
            return conversation.turn_count
        last = await self.store.timeline.messages(
            conversation.uuid, limit=1, newest=True, with_receipts=False
        )
        return (last[0].turn_index or 0) + 1 if last else 0

    async def load_turns(self, conversation: Conversation, first: int, count: int) -> list[Turn]:
        """Return `count` turns of a session, beginning with `first`, oldest first."""
        messages = await self.store.timeline.messages(
            conversation.uuid, first, first + count - 1, with_receipts=False
        )
        return group_into_turns(messages)

    async def load_receipt(self, conversation: Conversation, turn_index: int) -> Receipt | None:
        """Return the receipt of the last answer in a turn; None if there is none."""
        from ragforge.domain.receipts import read_receipt

        messages = await self.store.timeline.messages(conversation.uuid, turn_index, turn_index)
        found = [message.receipt for message in messages if message.receipt is not None]
        return read_receipt(found[-1]) if found else None

    async def last_receipt(self, conversation_id: str | None = None) -> Receipt | None:
        """Return the receipt of the last answer in a session, or in the current one.

        None if there is none. Raises ConversationNotFound.
        """
        from ragforge.domain.receipts import read_receipt

        if not conversation_id:
            current = await self.find_current()
            if current is None:
                return None
            conversation_id = current.uuid
        receipt = (await self.store.timeline.recent_past(conversation_id, 0, 0)).receipt
        return None if receipt is None else read_receipt(receipt)

    async def find_similar(
        self, query: str, limit: int = 5, everywhere: bool = False
    ) -> list[SimilarConversation]:
        """Return the conversations of this project, or of all, that are most about the query."""
        from ragforge.memory.search.similar import find_similar_conversations
        from ragforge.memory.search.turns import MemorySearch

        project = None if everywhere else self.project.ids
        memory = MemorySearch(self.store, self.embedder)
        return await find_similar_conversations(memory, query, limit, project)

    async def find_about(self, name: str, everywhere: bool = False) -> list[ConversationAbout]:
        """Return the conversations of this project, or of all, that edited, read or named some
        code: a file, a directory or a name. Each says what became of the code since.

        Those that edited it come first, of these the last active. The code may be gone by now.
        Turns that wait to be linked to code are linked first. Raises InputError if the name may
        mean several files.
        """
        from ragforge.memory.code.about import find_conversations_about
        from ragforge.memory.code.pending_links import link_waiting

        if not self.store.read_only:
            await link_waiting(self.store, self.project.ids)
        log = open_git(Path(self.project.path))
        return await find_conversations_about(
            self.store, name, self.cwd, self.project, log=log, everywhere=everywhere
        )

    async def branch(
        self, source: Conversation, point: str, title: str | None = None
    ) -> Conversation:
        """Branch a session after a turn, by its index, or a message, by (the start of) its id.

        The new session belongs to the same directory and contains everything up to that point. It
        is the user's, whosever the other is.
        Raises InputError if there is no such turn or message, AmbiguousId.
        """
        messages = await self.store.timeline.messages(source.uuid, with_receipts=False)
        message = _find_message(source, messages, point.strip())
        if title is not None:
            title = sessions.clean_title(title)
        elif source.title is not None:
            title = f"{source.title} (branch)"
        into = Conversation(
            source.cwd,
            source.project_path,
            title=title,
            tags=source.tags,
            project_id=source.project_id,
        )
        return await self.store.timeline.branch(message.uuid, sessions.sign(into, self.identity))

    async def rename(
        self, conversation: Conversation, title: str, *, force: bool = False
    ) -> Conversation:
        """Give a session another title, on one line. Raises InputError if it is empty.

        Raises NotAuthor if it is another user's, unless forced; so do the next three.
        """
        line = sessions.clean_title(title)
        if not line:
            raise InputError("The title is empty. Give the session a name.")
        return await self._change(conversation, force, title=line)

    async def retag(
        self,
        conversation: Conversation,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        *,
        force: bool = False,
    ) -> Conversation:
        """Add tags to a session and remove others. Raises InputError for an empty tag."""
        if not all(tag.strip() for tag in (*add, *remove)):
            raise InputError("A tag is empty. Give it a name.")
        gone = {tag.strip() for tag in remove}
        tags = [tag for tag in conversation.tags if tag not in gone]
        tags += [tag.strip() for tag in add]
        return await self._change(conversation, force, tags=tuple(dict.fromkeys(tags)))

    async def set_status(
        self, conversation: Conversation, status: ConversationStatus, *, force: bool = False
    ) -> Conversation:
        """Archive a session, or bring it back."""
        return await self._change(conversation, force, status=status)

    async def set_visibility(
        self, conversation: Conversation, visibility: Visibility
    ) -> Conversation:
        """Share a session of the user with all users of the store, or make it private.

        Raises NotAuthor, and InputError if it has no author.
        """
        return await self._change(conversation, visibility=visibility)

    async def _change(
        self, conversation: Conversation, force: bool = False, **changes: Any
    ) -> Conversation:
        changed = ConversationChanges(**changes)
        return await self.store.records.update(CONVERSATION, conversation.uuid, changed, force)

    async def delete(self, conversation: Conversation, *, force: bool = False) -> Conversation:
        """Delete a session for good, and what was kept of its transcript; return what it was."""
        await self.store.records.delete(CONVERSATION, conversation.uuid, force)
        if conversation.agent != AGENT:
            await self.forget_originals([conversation.uuid])
        return conversation

    async def forget_originals(self, conversations: Sequence[str]) -> None:
        """Remove the transcripts that were kept of conversations.

        Raises InputError if they cannot be removed.
        """
        if self.open_originals is None:
            return
        files = self.open_originals()
        try:
            await asyncio.to_thread(files.forget, conversations)
        except OSError as error:
            raise InputError(
                f"The session is deleted, but its kept transcript is not, in "
                f"{files.folder}: {error.strerror}."
            ) from error

    async def export(self, conversation_id: str, with_embeddings: bool = False) -> dict[str, Json]:
        """Return a session as a document: see docs/export-format.md."""
        from ragforge.memory.export_format.writer import export_conversation

        conversation = await self.store.records.get(CONVERSATION, conversation_id)
        return await export_conversation(
            self.store.archive,
            conversation_id,
            with_embeddings=with_embeddings,
            repository=await find_repository(self.store, conversation, self.project),
        )

    async def export_bytes(self, conversation_id: str, with_embeddings: bool = False) -> bytes:
        """Return a session as the content of a JSON file."""
        from ragforge.memory.export_format.writer import to_bytes

        document = await self.export(conversation_id, with_embeddings)
        return await asyncio.to_thread(to_bytes, document)

    async def import_document(
        self, document: bytes | Json, *, as_new: bool = False, here: bool = False
    ) -> ImportResult:
        """Store an exported session: see docs/export-format.md.

        With `as_new` it gets new ids, with `here` it belongs to this directory and project.
        It is the user's from then on; its messages keep their authors.
        Its vectors and links to code follow in the background.
        Raises ImportRefused, and DuplicateId if it is here already.
        """
        from ragforge.memory.code.pending_links import enqueue_links
        from ragforge.memory.embed import enqueue_missing
        from ragforge.memory.export_format.reader import import_conversation

        place = (self.cwd, self.project) if here else None
        archive = self.store.archive
        imported = await import_conversation(
            archive,
            document,
            as_new=as_new,
            place=place,
            identity=self.identity,
            name_project=partial(place_import, self.store),
        )
        if self.embedder is not None:
            await enqueue_missing(self.store, self.embedder)
        await enqueue_links(self.store, [imported.conversation.project_id])
        return imported


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
        shown = starting[: sessions.CANDIDATES]
        candidates = [
            sessions.format_candidate(one.uuid, f"turn {one.turn_index}") for one in shown
        ]
        raise AmbiguousId("message", text, candidates)
    turns = [str(message.turn_index) for message in messages if message.role == "user"]
    known = f"Its turns are {turns[0]} to {turns[-1]}" if turns else "It is empty"
    raise InputError(
        f"Session {source.uuid[:SHORT_ID]} has no turn or message {text!r}. {known}; "
        f"`ragforge sessions show {source.uuid[:SHORT_ID]}` lists them."
    )


def save_file(path: Path, data: bytes) -> None:
    """Write a file completely or not at all, readable by its owner only; or write to a pipe.

    Raises InputError.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            replace_file(str(path), data)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
