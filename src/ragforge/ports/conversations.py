"""Where conversations live."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ragforge.domain.code import CodeReference, Touch
from ragforge.domain.conversations import (
    Conversation,
    Message,
    ToolCall,
)
from ragforge.domain.summaries import Summary
from ragforge.domain.text import Json
from ragforge.domain.turns import StoredTurn


class RecentPast(NamedTuple):
    """The end of a conversation."""

    messages: list[Message]  # the newest, oldest of them first, without receipts
    receipt: Json  # the newest; None if there is none
    summaries: list[Summary]  # L2, and L1 that no L2 covers; the newest ranges, oldest first
    stretches: list[int]  # the turns with which the L1 begin that the newest L2 covers


class ConversationStore(Protocol):
    """Conversations, their messages and turns.

    Every method that writes is one transaction: durable when it returns, without a
    trace when it raises. Input that cannot be stored exactly raises an InputError.
    A turn is known by the id of its user message.
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

    async def messages(
        self,
        conversation_id: str,
        first_turn: int | None = None,
        last_turn: int | None = None,
        limit: int | None = None,
        offset: int = 0,
        with_receipts: bool = True,
    ) -> list[Message]:
        """Return messages with their tool calls, in the order they were appended.

        Those that a branch shares with its origin come first: see `TranscriptStore.take_in`.
        Turn bounds are inclusive. Receipts can be left out: they are longer than the rest.
        Raises ConversationNotFound.
        """

    async def latest_messages(
        self, conversation_id: str, limit: int, with_receipts: bool = True
    ) -> list[Message]:
        """Return the newest messages, oldest of them first. Raises ConversationNotFound."""

    async def last_receipt(self, conversation_id: str) -> Json:
        """Return the newest receipt of a conversation, or None if it has none."""

    async def recent_past(
        self, conversation_id: str, messages: int, summaries: int, stretches: int = 0
    ) -> RecentPast:
        """Return the newest messages, summaries and stretches, as one request to a server.

        A long session has hundreds: at most so many are returned. Raises ConversationNotFound.
        """

    async def last_texts(self, conversation_ids: Sequence[str]) -> dict[str, str]:
        """Return conversation id → the text of its last message; empty ones are left out."""

    async def turns(self, turn_ids: Sequence[str], back: int = 0) -> dict[str, StoredTurn]:
        """Return turns by their ids, or the turn so many before each.

        Ids that are no turn are left out, and those that have no turn so many before them.
        """

    async def conversations_of(self, message_ids: Sequence[str]) -> dict[str, str]:
        """Return message id → conversation id; unknown ids are left out."""

    async def tool_calls(
        self,
        conversation_id: str,
        tool_name: str | None = None,
        success: bool | None = None,
        limit: int | None = None,
    ) -> list[ToolCall]:
        """Return tool calls, newest first. Raises ConversationNotFound."""

    async def branch(self, message_id: str, into: Conversation) -> Conversation:
        """Create `into` as a branch: a copy of everything up to and including the message.

        Copied messages get new ids and turns count from 0 without gaps. Code references
        are copied, and the vectors of whole turns; summaries are not.
        Raises MessageNotFound, DuplicateId.
        """

    async def refer(self, message_id: str, references: Sequence[CodeReference]) -> None:
        """Link a message to code, adding to what is linked.

        A scope that is referred to again keeps the newer hash and the stronger `how`.
        Raises MessageNotFound, NotAuthor.
        """

    async def references_of(self, message_ids: Sequence[str]) -> dict[str, list[CodeReference]]:
        """Return what messages refer to, by file and name; those that refer to nothing, or that
        are unknown, are left out.
        """

    async def set_link_pending(self, turn_ids: Sequence[str], pending: bool) -> None:
        """Note whether the links of turns to code are still to be made.

        Ids that are unknown or somebody else's do nothing.
        """

    async def turns_to_link(self, project_ids: Sequence[str], limit: int) -> list[str]:
        """Return turns of projects whose links to code are still to be made, oldest first.

        Those of other authors are left to them.
        """

    async def unlinked_turns(self, project_ids: Sequence[str], limit: int) -> list[str]:
        """Return turns of projects that refer to no scope and do not wait, oldest first.

        They may refer to whole files. Those of other authors are left to them.
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
        """Return where messages edited, read or named any of these, or summaries say so.

        Of one conversation all is returned, where none of these is given.

        A name is that of a scope, which may be gone: its qualified name, or a part of that
        between dots. So a class is touched when its method is. The newest come first.
        Scopes have other ids in other checkouts: a name with its file finds those of all.
        """
