"""History: the turns, summaries and files of a conversation, and the state of each turn."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from operator import itemgetter

from ragforge.domain.code import TouchKind, pick_strongest
from ragforge.domain.conversation_bundle import Bundle, decode_messages
from ragforge.domain.conversations import Conversation, Message, ToolCall
from ragforge.domain.instants import now
from ragforge.domain.schema import CONVERSATION, JOB, SUMMARY
from ragforge.domain.summaries import Summary, SummaryFilter
from ragforge.domain.text import to_json
from ragforge.domain.turns import Turn, UserQuery, group_into_turns
from ragforge.domain.work import Job, JobFilter
from ragforge.errors import NotAuthor, SummaryNotFound
from ragforge.ports.store import Records, Store
from ragforge.records import dataclass

PAGE = 32
FIRST_MESSAGES = 128
"""How many of the newest messages are read at first: for most conversations that is enough."""
MAX_TOUCHES = 100_000


DEAD_JOBS = 10_000
"""How many permanently failed jobs are examined."""
_WORD = re.compile(r'[^\s":,\[\]{}]+')


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """A file that a conversation touched: the strongest kind of touch, and the last time."""

    path: str
    how: TouchKind
    when: datetime


@dataclass(frozen=True, slots=True)
class History:
    """Reads the past of conversations in one store."""

    store: Store

    async def get_recent_turns(
        self,
        conversation_id: str,
        max_chars: int | None = None,
        limit: int | None = None,
    ) -> list[Turn]:
        """Return the newest whole turns within the limits, the oldest of them first."""
        fits = _make_limit(max_chars, limit, lambda turn: turn.char_count)
        return await self.get_turns_while(conversation_id, fits)

    async def get_last_user_queries(
        self,
        conversation_id: str,
        max_chars: int | None = None,
        limit: int | None = None,
        without: Iterable[str] = (),
    ) -> list[UserQuery]:
        """Return the newest questions that fit, within the limits of `get_recent_turns`."""
        fits = _make_limit(max_chars, limit, lambda turn: len(turn.user.content))
        turns = await self.get_turns_while(conversation_id, fits, without)
        return [
            UserQuery(turn.user.content, turn.user.timestamp, turn.user.turn_index or 0)
            for turn in turns
        ]

    async def get_turns_while(
        self,
        conversation_id: str,
        is_wanted: Callable[[Turn], bool],
        without: Iterable[str] = (),
        newest: Sequence[Message] | None = None,
    ) -> list[Turn]:
        """Return the newest turns up to the first unwanted one, oldest first."""
        kept: list[Turn] = []
        async for turn in self._read_newest(conversation_id, without, newest):
            if not is_wanted(turn):
                break
            kept.append(turn)
        return kept[::-1]

    async def get_tool_calls(
        self,
        conversation_id: str,
        tool_name: str | None = None,
        success: bool | None = None,
        limit: int | None = None,
    ) -> list[ToolCall]:
        """Return the tool calls of a conversation, the newest first."""
        page = None if limit is None else FIRST_MESSAGES
        while True:
            messages = await self.store.timeline.messages(
                conversation_id, limit=page, newest=True, with_receipts=False
            )
            found = [
                call
                for message in reversed(messages)
                for call in reversed(message.tool_calls)
                if tool_name in (None, call.tool_name) and success in (None, call.success)
            ]
            if limit is None or page is None or len(found) >= limit or len(messages) < page:
                return found[:limit]
            page *= 4

    async def get_raw_history_char_count(self, conversation_id: str) -> int:
        """Return how many characters of a conversation, with tool results, no summary covers."""
        waiting = await self.store.timeline.coverage(conversation_id)
        return sum(turn.chars for turn in waiting)

    async def get_summaries_mentioning_file(
        self, path: str, project_ids: Sequence[str] | None = None
    ) -> list[Summary]:
        """Return the summaries that mention a file of the project, newest first."""
        where = SummaryFilter(project_ids=project_ids, file=path)
        return _sort_newest_first(await self.store.records.find(SUMMARY, where))

    async def get_unread_findings(
        self, project_ids: Sequence[str] | None = None, conversation_id: str | None = None
    ) -> list[Summary]:
        """Return the summaries with unread findings, newest first; see `mark_findings_read`."""
        where = SummaryFilter(conversation_id, project_ids, unread=True)
        return _sort_newest_first(await self.store.records.find(SUMMARY, where))

    async def mark_findings_read(self, summaries: Iterable[Summary]) -> None:
        """Mark the findings of these summaries as read, except those of other authors."""
        moment = now()
        for summary in summaries:
            with suppress(SummaryNotFound, NotAuthor):
                await self.store.records.update(
                    SUMMARY, summary.uuid, lambda one: replace(one, read_at=one.read_at or moment)
                )

    async def get_files(self, conversation_id: str) -> list[TouchedFile]:
        """Return the files that a conversation edited, read or named, the last touched first.

        Raises ConversationNotFound.
        """
        await self.store.records.get(CONVERSATION, conversation_id)
        touches = await self.store.timeline.touches(
            conversation_id=conversation_id, limit=MAX_TOUCHES
        )
        files: dict[str, TouchedFile] = {}
        for touch in touches:  # the newest first
            known = files.setdefault(touch.file, TouchedFile(touch.file, touch.how, touch.when))
            files[touch.file] = replace(known, how=pick_strongest((known.how, touch.how)))
        return list(files.values())

    async def _read_newest(
        self, conversation_id: str, without: Iterable[str], newest: Sequence[Message] | None
    ) -> AsyncIterator[Turn]:
        """Yield turns, the newest first, read page by page."""
        left_out, timeline = set(without), self.store.timeline
        messages = newest
        if messages is None:
            messages = await timeline.messages(
                conversation_id, limit=FIRST_MESSAGES, newest=True, with_receipts=False
            )
        # A turn begins with its question: what comes before the first one here may not be whole.
        opened = [m.turn_index or 0 for m in messages if m.role == "user"]
        indexes = [m.turn_index or 0 for m in messages]
        first = min(opened, default=max(indexes, default=-1) + 1)
        messages = [m for m in messages if (m.turn_index or 0) >= first]
        page = PAGE
        while True:
            for turn in reversed(group_into_turns(messages)):
                if turn.uuid not in left_out:
                    yield turn
            if first <= 0:
                return
            page *= 2  # a caller that wants more than a page wants many
            last, first = first - 1, max(first - page, 0)
            messages = await timeline.messages(conversation_id, first, last, with_receipts=False)


def _sort_newest_first(summaries: Iterable[Summary]) -> list[Summary]:
    return sorted(summaries, key=lambda summary: summary.created_at, reverse=True)


def _make_limit(
    max_chars: int | None, limit: int | None, size_of: Callable[[Turn], int]
) -> Callable[[Turn], bool]:
    """Return a function that tells, turn after turn, whether the next one still fits."""
    chars = turns = 0

    def fits(turn: Turn) -> bool:
        nonlocal chars, turns
        turns += 1
        chars += size_of(turn)
        is_short = max_chars is None or chars <= max_chars
        return is_short and (limit is None or turns <= limit)

    return fits


@dataclass(frozen=True, slots=True)
class TurnState:
    """Whether a stored turn is embedded and summarised."""

    turn_index: int
    embedded: bool | None  # None: there is no embedding model
    summarised: bool
    error: str | None = None  # why it was not embedded, if that failed permanently

    @property
    def names(self) -> tuple[str, ...]:
        """Those of stored, embedded, summarised and failed that apply."""
        holds = {
            "stored": True,
            "embedded": bool(self.embedded),
            "summarised": self.summarised,
            "failed": self.error is not None,
        }
        return tuple(name for name, is_so in holds.items() if is_so)


@dataclass(frozen=True, slots=True)
class TurnStates:
    """The states of all turns, by turn id, and the failed jobs of the conversation."""

    turns: Mapping[str, TurnState]
    failed_jobs: tuple[Job, ...] = ()


async def load_states(records: Records, bundle: Bundle, model: str | None) -> TurnStates:
    """Return the states of all turns of a conversation, for an embedding model or for none."""
    conversation_id = bundle["conversation"][0]["uuid"]
    questions = [row for row in bundle["message"] if row["role"] == "user"]
    turns = {row["uuid"]: row["turn_index"] for row in questions}
    summarised = {int(turn) for one in bundle["summary"] for turn in one["covers"]}
    summarised |= {row["turn_index"] for row in questions if row["summary_trimmed"]}
    of_turns = (one for one in bundle["vector"] if one["owner_kind"] == "turn")
    embedded = {one["owner_id"] for one in of_turns if one["model"] == model}
    errors: dict[str, str] = {}
    of_all: list[Job] = []
    for job in await records.find(JOB, JobFilter("dead"), DEAD_JOBS):
        named = set(_WORD.findall(f"{job.key} {to_json('payload', job.payload)}"))
        for turn_id in named & turns.keys():
            errors[turn_id] = job.error or "it failed"
        if conversation_id in named:
            of_all.append(job)
    return TurnStates(
        {
            turn_id: TurnState(
                turn_index=turn_index,
                embedded=None if model is None else turn_id in embedded,
                summarised=turn_index in summarised,
                error=None if turn_id in embedded else errors.get(turn_id),
            )
            for turn_id, turn_index in turns.items()
        },
        tuple(of_all),
    )


@dataclass(frozen=True, slots=True)
class SessionDetail:
    """All that is stored of a session, and the state of each of its turns."""

    conversation: Conversation
    messages: Sequence[Message]  # also those that it shares with the session it branched off from
    summaries: Sequence[tuple[Summary, Sequence[int]]]  # with the turns that each covers
    branch_of: str | None
    branches: Sequence[str]
    states: TurnStates

    @property
    def turns(self) -> list[Turn]:
        return group_into_turns(self.messages)


async def load_session_detail(store: Store, uuid: str, model: str | None) -> SessionDetail:
    """Return everything about a session, with the states of its turns for an embedding model."""
    bundle = await store.archive.conversation(uuid, with_vectors=False)
    messages = decode_messages(bundle)
    first = messages[0].turn_index if messages else None
    if first and first > 0:
        shared = await store.timeline.messages(uuid, last_turn=first - 1)
        messages = [*shared, *messages]
    in_order = itemgetter("level", "start_turn_index", "uuid")
    branches = bundle["branch"]
    return SessionDetail(
        conversation=CONVERSATION.decode(bundle["conversation"][0]),
        messages=messages,
        summaries=[
            (SUMMARY.decode(row), [int(turn) for turn in row["covers"]])
            for row in sorted(bundle["summary"], key=in_order)
        ],
        branch_of=next((one["source"] for one in branches if one["target"] == uuid), None),
        branches=sorted(one["target"] for one in branches if one["source"] == uuid),
        states=await load_states(store.records, bundle, model),
    )
