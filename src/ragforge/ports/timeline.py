"""The timeline: what was said in conversations, in order, and what it was summarised to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from ragforge.domain.code import CodeLinks, CodeReference, FileMention, Touch
from ragforge.domain.conversations import Conversation, Message, ToolCall
from ragforge.domain.kinds import Kind
from ragforge.domain.summaries import Level, Summary
from ragforge.domain.text import Json
from ragforge.domain.turns import StoredTurn, TurnCoverage


class RecentPast(NamedTuple):
    """The end of a conversation."""

    messages: list[Message]  # the newest, oldest of them first, without receipts
    receipt: Json  # the newest; None if there is none
    summaries: list[Summary]  # L2, and L1 that no L2 covers; the newest ranges, oldest first
    stretches: list[int]  # the turns with which the L1 begin that the newest L2 covers


class Timeline(Protocol):
    """Messages and turns of conversations, what code they touched, and what summaries cover.

    Every method that writes is one transaction: durable when it returns, without a
    trace when it raises. Input that cannot be stored exactly raises an InputError.
    A turn is known by the id of its user message. Conversations and summaries themselves are
    found, changed and deleted by `Records`.
    """

    async def append(self, conversation_id: str, messages: Sequence[Message]) -> list[Message]:
        """Add messages at the end and return them with `turn_index` and `position`.

        A user message opens a turn. Any other joins the turn it names, or the newest;
        before the first user message its turn is BEFORE_FIRST_TURN.
        Raises ConversationNotFound, NotAuthor, TurnNotFound if a message names a turn that does not
        exist, DuplicateId if a message, call or result id is taken.
        """

    async def finish_calls(self, message_id: str, calls: Sequence[ToolCall]) -> Message:
        """Give calls of a stored message their results, and return the message.

        Result, success and duration are set, by the id of the call. A call that has a result
        keeps it; one without a result among `calls`, or of another message, does nothing.
        Raises MessageNotFound, NotAuthor.
        """

    async def branch(self, message_id: str, into: Conversation) -> Conversation:
        """Create `into` as a branch: a copy of everything up to and including the message.

        Copied messages get new ids and turns count from 0 without gaps. Code references
        are copied, and the vectors of whole turns; summaries are not.
        Raises MessageNotFound, DuplicateId.
        """

    async def messages(
        self,
        conversation_id: str,
        first_turn: int | None = None,
        last_turn: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        with_receipts: bool = True,
    ) -> list[Message]:
        """Return messages with their tool calls, in the order they were appended.

        Those that a branch shares with its origin come first: see `TranscriptStore.take_in`.
        Turn bounds are inclusive. Of more messages than the limit the oldest are returned, or
        the newest. Receipts can be left out: they are longer than the rest.
        Raises ConversationNotFound.
        """

    async def recent_past(
        self, conversation_id: str, messages: int, summaries: int, stretches: int = 0
    ) -> RecentPast:
        """Return the newest messages, summaries and stretches, as one request to a server.

        Each number is a maximum: a long session has hundreds. Raises ConversationNotFound.
        """

    async def last_texts(self, conversation_ids: Sequence[str]) -> dict[str, str]:
        """Return the last message of conversations, by id; empty ones are left out."""

    async def turns(self, turn_ids: Sequence[str], back: int = 0) -> dict[str, StoredTurn]:
        """Return turns by their ids, or for each the turn that is `back` turns before it.

        Ids that are not a turn are left out, and those that have no such turn before them.
        """

    async def link(
        self,
        kind: Kind[Message, Any] | Kind[Summary, Any],
        owner_id: str,
        references: Sequence[CodeReference],
        files: Sequence[FileMention] = (),
    ) -> None:
        """Link a message or a summary to code.

        A message keeps its other links; a scope that is linked again keeps the newer hash and
        the stronger `how`. Only summaries are linked to files. Their links are replaced.
        Raises MessageNotFound, SummaryNotFound, NotAuthor.
        """

    async def links(self, owner_ids: Sequence[str]) -> dict[str, CodeLinks]:
        """Return the code that messages and summaries are linked to, by their ids.

        Files are sorted by path, scopes by file and name. Ids that are unknown, or linked to
        nothing, are left out. One query: a question late in a session finds dozens of summaries.
        """

    async def turns_to_link(
        self, project_ids: Sequence[str], limit: int, waiting: bool = True
    ) -> dict[str, str]:
        """Return the turns of projects whose links to code are pending, oldest first.

        Without `waiting`: those that do not wait and are linked to no scope. They may be linked
        to whole files. Each turn id comes with the id of its conversation.
        Turns of other authors are left to them.
        """

    async def set_link_pending(self, turn_ids: Sequence[str], pending: bool) -> None:
        """Set whether the links to code of turns are pending.

        Ids that are unknown or another author's are ignored.
        """

    async def touches(
        self,
        *,
        files: Sequence[str] = (),
        scope_ids: Sequence[str] = (),
        names: Sequence[str] = (),
        project_ids: Sequence[str] | None = None,
        conversation_id: str | None = None,
        limit: int = 1000,
    ) -> list[Touch]:
        """Return where messages edited, read or named any of these, or summaries mention it.

        Of one conversation all is returned, where none of these is given.

        A name is that of a scope, which may be gone: its qualified name, or a part of that
        between dots. So a class is touched when its method is. The newest come first.
        Scopes have other ids in other checkouts: a name with its file finds those of all.
        """

    async def save_summary(self, summary: Summary, turn_ids: Sequence[str] = ()) -> None:
        """Store a summary; one with the same id is replaced.

        An L1 covers the turns of its range that no other L1 covers; an L2 covers its
        `parent_summaries`. Raises ConversationNotFound, SummaryNotFound for an unknown
        parent, and TurnNotFound if one of `turn_ids` is gone or another L1 covers it:
        what the summary was made of is no longer what it would cover.
        """

    async def coverage(
        self, conversation_id: str, first_turn: int | None = None
    ) -> list[TurnCoverage]:
        """Return turns, in order, with their sizes and the L1 that cover them.

        From a turn on all are returned. Otherwise only the open ones: those that no L1 covers,
        nor covered before it was trimmed. Raises ConversationNotFound.
        """

    async def trim(
        self,
        before: datetime,
        level: Level | None = None,
        conversation_id: str | None = None,
        project_ids: Sequence[str] | None = None,
    ) -> int:
        """Delete exactly the viewer's summaries that were made before the date; return how many.

        They are of one level, conversation or project where these are given. An L2 stays when
        its L1 go. Unlike when they are deleted, what they covered does not become eligible again.
        """

    async def forget_trims(self, conversation_id: str) -> None:
        """Make all turns of trimmed summaries eligible again. Raises ConversationNotFound."""
