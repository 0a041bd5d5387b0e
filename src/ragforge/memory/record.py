"""Record: store messages before anything else happens to them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from ragforge.domain.chat import Usage, UsageRecord
from ragforge.domain.conversations import Message, Role, ToolCall, ToolResult, estimate_tokens
from ragforge.domain.instants import now
from ragforge.domain.schema import SUMMARY, USAGE
from ragforge.domain.text import Json, list_fields, new_id, to_text
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.domain.work import NewJob
from ragforge.errors import ConversationNotFound, InputError, StoreError
from ragforge.llm.ask import Requests, collect_requests
from ragforge.memory.context_tags import make_mark, remove_fenced
from ragforge.memory.embed import EMBED_JOB
from ragforge.ports.store import Store
from ragforge.records import dataclass

SETTLE_JOB = "settle_turn"
TITLE_JOB = "title"
"""The job after a turn: link it to code, and check whether a summary is due."""


def make_settle_key(turn_id: str) -> str:
    """Return the key of the job that is queued when a turn has ended."""
    return f"settle:{turn_id}"


@dataclass(frozen=True, slots=True)
class Recorder:
    """Stores messages. They are durable when a method returns."""

    store: Store
    embedder_name: str | None
    max_result_chars: int
    process: str | None = None  # the asking process: while it lives, its open turns may grow
    author: str | None = None  # of the user's messages

    async def record_question(self, conversation_id: str, text: str) -> Message:
        """Open a turn with the user's message."""
        asked = Message("user", text, process=self.process, author=self.author)
        return await self._append(conversation_id, asked)

    async def record_answer(
        self,
        conversation_id: str,
        turn_index: int | None,
        text: str,
        *,
        reasoning: str | None = None,
        tool_calls: Sequence[ToolCall] = (),
        receipt: Json = None,
        by_model: bool = True,
        token_count: int | None = None,
        model: str | None = None,
        usd: float | None = None,
    ) -> Message:
        """Add an answer to a turn. Without `token_count`, its tokens are estimated.

        A text that no model wrote gets the role `system`: searches find its sources instead.
        """
        role: Role = "assistant" if by_model else "system"
        said = Message(
            role,
            text,
            reasoning,
            tuple(tool_calls),
            receipt=receipt,
            turn_index=turn_index,
            token_count=token_count,
            model=model,
            usd=usd,
        )
        return await self._append(conversation_id, said)

    async def record_results(self, message_id: str, tool_calls: Sequence[ToolCall]) -> Message:
        """Add the results of calls that were stored before they ran. Raises MessageNotFound."""
        kept = [clean_call(call, self.max_result_chars) for call in tool_calls]
        return await self.store.timeline.finish_calls(message_id, kept)

    async def store_turn(self, conversation_id: str, messages: Sequence[Message]) -> Turn:
        """Store a whole turn: the user's message first, then everything up to the answer.

        Raises InputError unless it is one turn, ConversationNotFound, DuplicateId.
        """
        [turn] = await self.store_turns(conversation_id, [messages])
        return turn

    async def store_turns(
        self, conversation_id: str, turns: Sequence[Sequence[Message]]
    ) -> list[Turn]:
        """Store several whole turns at once, in their order: all of them or none.

        Raises InputError unless each is one turn, ConversationNotFound, DuplicateId.
        """
        mark, kept = make_mark(conversation_id), []
        for messages in turns:
            roles = [message.role for message in messages]
            if roles.count("user") != 1 or roles[0] != "user":
                raise InputError("A turn must have exactly one user message, which comes first.")
            signed = [replace(messages[0], author=messages[0].author or self.author), *messages[1:]]
            kept += [clean_message(message, self.max_result_chars, mark) for message in signed]
        stored = await self.store.timeline.append(conversation_id, kept)
        found = group_into_turns(stored)
        title = NewJob(f"title:{conversation_id}", TITLE_JOB, conversation_id)
        jobs = [job for turn in found for job in self._make_jobs(conversation_id, turn.uuid)]
        if found:
            with suppress(StoreError):
                await self.store.jobs.enqueue([title, *jobs])
        return found

    async def end_turn(self, conversation_id: str, turn_id: str, again: bool = False) -> None:
        """Queue the jobs that follow a turn; `again` if a resumed turn is longer now.

        The turn itself is stored already. If the jobs cannot be queued, that is ignored.
        """
        title = NewJob(f"title:{conversation_id}", TITLE_JOB, conversation_id)
        jobs = self._make_jobs(conversation_id, turn_id)
        with suppress(StoreError):
            if again:
                await self._forget_summary(conversation_id, turn_id)
            await self.store.jobs.enqueue([title, *jobs])
            if again:
                await self.store.jobs.enqueue(jobs, again=True)

    def _make_jobs(self, conversation_id: str, turn_id: str) -> list[NewJob]:
        """Return the jobs that follow a turn, except the title of its conversation."""
        jobs = [NewJob(make_settle_key(turn_id), SETTLE_JOB, [conversation_id, turn_id])]
        if self.embedder_name is not None:
            jobs.append(NewJob(f"embed-turn:{turn_id}:{self.embedder_name}", EMBED_JOB, [turn_id]))
        return jobs

    async def _forget_summary(self, conversation_id: str, turn_id: str) -> None:
        """Delete a summary of only the first part of a turn; a new one will cover the whole."""
        turn = (await self.store.timeline.turns([turn_id])).get(turn_id)
        if turn is None:
            return
        index = turn.messages[0].turn_index
        for one in await self.store.timeline.coverage(conversation_id, index):
            if one.turn_index == index and one.covered_by is not None:
                await self.store.records.delete(SUMMARY, one.covered_by)

    async def _append(self, conversation_id: str, message: Message) -> Message:
        kept = clean_message(message, self.max_result_chars, make_mark(conversation_id))
        [stored] = await self.store.timeline.append(conversation_id, [kept])
        return stored


def clean_message(message: Message, max_result_chars: int, mark: str = "") -> Message:
    """Return a message as it is stored; `mark` is that of its conversation's fences.

    Recalled text is removed only from what a user said.
    """
    calls = tuple(clean_call(call, max_result_chars) for call in message.tool_calls)
    said = message.content
    content = remove_fenced(said, mark) if message.role == "user" else said
    reasoning = message.reasoning
    kept = replace(
        message,
        content=content,
        reasoning=reasoning or None,
        tool_calls=calls,
    )
    if kept.token_count is None:
        kept = replace(kept, token_count=estimate_tokens(kept))
    return kept


def clean_call(call: ToolCall, max_chars: int) -> ToolCall:
    """Return a call as it is stored."""
    arguments, _ = _make_storable(call.arguments, max_chars)
    result = None if call.result is None else _clean_result(call.result, max_chars)
    return replace(call, arguments=arguments, result=result)


def _clean_result(result: ToolResult, max_chars: int) -> ToolResult:
    kept, size = _make_storable(result.result, max_chars)
    error = result.error and result.error.encode(errors="replace").decode()
    size = result.result_size_bytes or size
    return replace(result, result=kept, error=error, result_size_bytes=size)


def _make_storable(value: Any, max_chars: int) -> tuple[Json, int]:
    """Return a value as JSON, within the limit, and its true size in bytes."""
    kept, size = _to_json(value)
    if len(to_text(kept)) <= max_chars:
        return kept, size
    from ragforge.memory.secrets.redact import redact_json  # slow to import

    kept = redact_json(kept)
    text = to_text(kept)
    if len(text) <= max_chars:
        return kept, size
    note = f"\n[… cut here: {size:,} bytes in all]"
    return text[: max(0, max_chars - len(note))] + note, size


def _to_json(value: Any) -> tuple[Json, int]:
    """Return a value as JSON and its size; bytes and other objects are described in words."""
    if isinstance(value, bytes | bytearray):
        return _describe(value), len(value)
    try:
        text = json.dumps(value, ensure_ascii=False, default=_describe, skipkeys=True)
    except (TypeError, ValueError, RecursionError):
        return "[a value that cannot be stored: it is too deep or holds itself]", 0
    size = len(text.encode(errors="replace")) - (2 if isinstance(value, str) else 0)
    if isinstance(value, str):
        return value, size
    return json.loads(text, parse_constant=str), size


def _describe(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return f"[binary: {len(value):,} bytes]"
    return str(value)


@asynccontextmanager
async def record_usage(store: Store, conversation_id: str) -> AsyncIterator[UsageRecorder]:
    """Store the requests that are made inside, unless their conversation is deleted meanwhile."""
    with collect_requests() as requests:
        recorder = UsageRecorder(store, conversation_id, requests)
        try:
            yield recorder
        finally:
            with suppress(ConversationNotFound):
                await recorder.save()


@dataclass(slots=True)
class UsageRecorder:
    """Stores the requests of a turn, or of a job, as one record for each model."""

    store: Store
    conversation_id: str
    requests: Requests
    _begun: datetime = field(default_factory=now)
    _ids: defaultdict[str, str] = field(default_factory=lambda: defaultdict(new_id))
    _saved: int = 0  # requests

    async def save(self) -> None:
        """Store all requests so far. Raises ConversationNotFound."""
        if len(self.requests) == self._saved:
            return
        saved = len(self.requests)
        by_model: defaultdict[str, Usage] = defaultdict(Usage)
        for model, usage in self.requests[:saved]:
            by_model[model] += usage
        records = [
            UsageRecord(
                conversation_id=self.conversation_id,
                model=model,
                **list_fields(usage),
                uuid=self._ids[model],
                created_at=self._begun,
            )
            for model, usage in by_model.items()
        ]
        await self.store.records.put(USAGE, *records)
        self._saved = saved
