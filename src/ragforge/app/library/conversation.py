"""A conversation, as a program holds it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragforge.app.application import App
from ragforge.domain import conversations as domain
from ragforge.domain.conversations import MemoryFilter, Message, ToolCall
from ragforge.domain.hits import TurnHit
from ragforge.domain.schema import CONVERSATION, MESSAGE_PLACE
from ragforge.domain.text import Json
from ragforge.domain.turns import Turn, UserQuery
from ragforge.errors import InputError, MessageNotFound
from ragforge.memory.search.combined import search_conversation_history
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.agent.events import Event, OnEvent
    from ragforge.agent.permissions import Approve
    from ragforge.app.features.session_edits import Undone
    from ragforge.context.build import ContextOptions, EnrichedContext
    from ragforge.domain.modes import Mode
    from ragforge.domain.summaries import Summary
    from ragforge.domain.turns import Answer
    from ragforge.memory.history import TouchedFile

Strategy: TypeAlias = Literal["recent", "relevant", "hybrid"]

HISTORY_LIMIT = 50


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """What of a conversation matters now."""

    recent: tuple[Message, ...]  # the newest, in the order in which they were said
    relevant: tuple[TurnHit, ...]  # best first
    summary: str | None


class Conversation:
    """One conversation of a `ConversationAgent`."""

    def __init__(self, app: App, facts: domain.Conversation) -> None:
        self._app = app
        self._facts = facts

    @property
    def id(self) -> str:
        return self._facts.uuid

    @property
    def facts(self) -> domain.Conversation:
        """Title, tags, directory and counters, as they were when it was opened or refreshed."""
        return self._facts

    async def refresh(self) -> domain.Conversation:
        """Read title, tags and counters again."""
        self._facts = await self._app.store.records.get(CONVERSATION, self.id)
        return self._facts

    async def send_message(
        self,
        text: str,
        *,
        on_event: OnEvent | None = None,
        approve: Approve | None = None,
        mode: Mode = "ask",
    ) -> Answer:
        """Ask, and return the answer with its tool calls, reasoning and `context_used`.

        `on_event` receives every event as it happens. `approve` decides before a file is
        changed or a command run that is not read-only; without it, neither is done.
        In the mode `plan` neither is done at all and the answer is a plan; in `accept-edits`
        files are changed without `approve`; in `auto` commands run without it too, in a sandbox
        without network.
        Raises InputError if the text is empty.
        """
        return await self._app.ask(text, self.id, on_event=on_event, approve=approve, mode=mode)

    async def stream_message(
        self, text: str, *, approve: Approve | None = None, mode: Mode = "ask"
    ) -> AsyncGenerator[Event, None]:
        """Ask, and yield every event as it comes; the last is `Done` with the answer.

        To stop listening interrupts the turn, which is stored as far as it went. Use
        `contextlib.aclosing` to have that done before the next line runs.
        Raises InputError if the text is empty.
        """
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        asking = asyncio.create_task(
            self.send_message(text, on_event=events.put_nowait, approve=approve, mode=mode)
        )
        asking.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await asking
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def retry(
        self, *, on_event: OnEvent | None = None, approve: Approve | None = None, mode: Mode = "ask"
    ) -> Answer:
        """Resume the last turn, which broke off or has no answer.

        Raises InputError if there is none.
        """
        return await self._app.retry(self.id, on_event=on_event, approve=approve, mode=mode)

    async def undo(self) -> Undone:
        """Take back the last edit that was made in this conversation; the model sees that it was.

        Raises InputError if there is none, or if the file has changed since.
        """
        return await self._app.undo(self.id)

    async def store_turn(
        self,
        user_message: str,
        answer: str,
        *,
        tool_calls: Sequence[ToolCall] = (),
        reasoning: str | None = None,
    ) -> Turn:
        """Store a whole exchange of another agent; durable when this returns.

        Vectors, links to code and summaries follow in the background.
        """
        said = Message("assistant", answer, reasoning, tuple(tool_calls))
        return await self.store_messages([Message("user", user_message), said])

    async def store_messages(self, messages: Sequence[Message]) -> Turn:
        """Store a turn of any shape: the user's message first, and all that followed it."""
        return await self._app.recorder.store_turn(self.id, messages)

    async def store_turns(self, turns: Sequence[Sequence[Message]]) -> list[Turn]:
        """Store several turns at once, as `store_messages` stores one: all of them or none.

        For many turns of another program this is much faster than one at a time.
        """
        return await self._app.recorder.store_turns(self.id, turns)

    async def get_history(
        self,
        limit: int = HISTORY_LIMIT,
        include_tool_calls: bool = True,
        include_reasoning: bool = True,
    ) -> list[Message]:
        """Return the newest messages, in the order in which they were said."""
        messages = await self._app.store.timeline.messages(self.id, limit=limit, newest=True)
        return [
            replace(
                message,
                tool_calls=message.tool_calls if include_tool_calls else (),
                reasoning=message.reasoning if include_reasoning else None,
            )
            for message in messages
        ]

    async def get_recent_turns(
        self, max_chars: int | None = None, limit: int | None = None
    ) -> list[Turn]:
        """Return the newest whole turns within the limits, the oldest of them first."""
        if max_chars is None and limit is None:
            memory = self._app.settings.agent.memory
            max_chars, limit = memory.share(memory.recent_turns_percent), memory.recent_turns
        return await self._app.history.get_recent_turns(self.id, max_chars, limit)

    async def get_last_user_queries(
        self, max_chars: int | None = None, limit: int | None = None
    ) -> list[UserQuery]:
        """Return the newest questions that fit, oldest of them first, each with its time and turn.

        Without `max_chars` and `limit`: as many as a context shows.
        """
        if max_chars is None and limit is None:
            memory = self._app.settings.agent.memory
            max_chars = memory.share(memory.last_user_queries_percent)
        return await self._app.history.get_last_user_queries(self.id, max_chars, limit)

    async def get_raw_history_char_count(self) -> int:
        """Return how many characters of a conversation, with tool results, no summary covers."""
        return await self._app.history.get_raw_history_char_count(self.id)

    async def search_history(self, query: str, limit: int = 5) -> list[TurnHit]:
        """Return the turns of this conversation that are relevant to the query, best first."""
        where = MemoryFilter(conversation_id=self.id)
        hits = await search_conversation_history(
            self._app.recall, query, where, max_results=limit, levels=(0,)
        )
        return [hit for hit in hits if isinstance(hit, TurnHit)]

    async def get_tool_calls(
        self, tool_name: str | None = None, success: bool | None = None, limit: int | None = None
    ) -> list[ToolCall]:
        """Return tool calls, the newest first."""
        return await self._app.history.get_tool_calls(self.id, tool_name, success, limit)

    async def get_files(self) -> list[TouchedFile]:
        """Return the files that were edited, read or named here, the last touched first."""
        return await self._app.history.get_files(self.id)

    async def get_unread_findings(self) -> list[Summary]:
        """Return the summaries with unread findings, newest first; see `mark_findings_read`."""
        return await self._app.history.get_unread_findings(conversation_id=self.id)

    async def summarize(self) -> str:
        """Return what the whole conversation is about, up to its last turn, and remember it.

        Raises ModelError if the model fails.
        """
        return await self._app.memory.summarise(self.id)

    async def build_context(
        self,
        strategy: Strategy = "hybrid",
        recent_messages: int = 5,
        relevant_messages: int = 10,
        include_summary: bool = True,
        query: str | None = None,
    ) -> ConversationContext:
        """Return the newest messages, those that are relevant to a query, or both.

        The default query is the last thing the user said.
        """
        if strategy not in ("recent", "relevant", "hybrid"):
            raise InputError(f"There is no strategy {strategy!r}. Use recent, relevant or hybrid.")
        recent: Sequence[Message] = ()
        if strategy != "relevant":
            recent = await self.get_history(recent_messages)
        relevant: Sequence[TurnHit] = ()
        if strategy != "recent":
            question = query or await self._last_question()
            hits = await self.search_history(question, relevant_messages) if question else []
            shown = {message.uuid for message in recent}
            relevant = [hit for hit in hits if hit.turn.uuid not in shown]
        summary = (await self.refresh()).summary if include_summary else None
        return ConversationContext(tuple(recent), tuple(relevant), summary)

    async def build_enriched_context(
        self, message: str, options: ContextOptions | None = None
    ) -> EnrichedContext:
        """Return the context that a model would get with a message, and the receipt of it.

        It has the latest turns, code, and what was said before in this project. Nothing is
        stored. Raises InputError if the message is empty, or an option makes no sense.
        """
        return await self._app.build_context(message, options, await self.refresh())

    async def export(self, with_embeddings: bool = False) -> dict[str, Json]:
        """Return all of it as a document: see docs/export-format.md."""
        return await self._app.sessions.export(self.id, with_embeddings)

    async def branch(self, from_message_id: str, title: str | None = None) -> Conversation:
        """Return a new conversation with all that was said up to a message of this one.

        Raises MessageNotFound.
        """
        place = await self._app.store.records.get(MESSAGE_PLACE, from_message_id)
        if place.conversation_id != self.id:
            raise MessageNotFound(from_message_id)
        source = await self.refresh()
        facts = await self._app.sessions.branch(source, from_message_id, title)
        return Conversation(self._app, facts)

    async def _last_question(self) -> str:
        queries = await self._app.history.get_last_user_queries(self.id, limit=1)
        return queries[-1].user_message if queries else ""
