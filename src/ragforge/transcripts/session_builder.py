"""Session builder: turn records into conversations with messages, step by step.

Whatever is read in pieces gives the same as if it were read at once: a step follows from the
record, from what is stored, and from what `save` returns. A record that is stored already gives
no step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from ragforge.domain.chat import UsageRecord
from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.domain.text import Json, to_text
from ragforge.domain.transcripts import (
    CallResult,
    NewMessage,
    ReportedUsage,
    RetractedMessage,
    TokenCount,
)
from ragforge.records import dataclass
from ragforge.transcripts.edits import find_edits
from ragforge.transcripts.fields import make_uuid
from ragforge.transcripts.reader import Recent
from ragforge.transcripts.record import (
    ROOT,
    Entry,
    Record,
    RecordedChange,
    RecordedResult,
    RecordedUsage,
    SessionFacts,
)

_MAX_IDS = 10_000
MAX_LINKS = 128
"""How many records without a speaker are remembered; the next record follows a recent one."""
MAX_STARTS = 256
"""How many records before a user's words are remembered: a session can be rewound to them."""
MAX_SESSIONS = 64
MAX_BRANCHES = 64


MAX_OPEN = 64
MAX_ENDED = 16
MAX_EARLY = 16
MAX_EARLY_CHARS = 20_000
"""A longer result without a call is dropped: waiting results are stored with every cursor."""


# What Codex says of a patch, also if the command behind it fails.
_APPLIED = "Success. Updated the following files:"


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """Where a stored message is: its conversation and its turn."""

    conversation_id: str
    turn_index: int


@dataclass(frozen=True, slots=True)
class Needs:
    """Ids whose stored state the builder needs before it gets some entries."""

    messages: set[str]
    conversations: set[str]


@dataclass(slots=True)
class OpenSession:
    """The state of a session between two readings."""

    current: str = ""  # the conversation that its newest record belongs to
    conversations: list[str] = field(default_factory=list)
    tail: str | None = None  # its newest message, which may be another session's


class SessionBuilder:
    """Makes steps of the records of one transcript.

    The importer puts into `places` what the store has of the messages that `list_needs` names,
    and into `turns` the newest turn of the conversations it names and of those in `places`. What
    is missing there is new.
    """

    def __init__(self, agent: str, clock: datetime) -> None:
        """`clock` is the time of records without a time that follow none with one."""
        self.agent = agent
        self.places: dict[str, StoredPlace] = {}  # of messages
        self.turns: dict[str, int] = {}  # conversation → its newest turn
        self._clock = clock
        self._sessions: Recent[OpenSession] = Recent(MAX_SESSIONS)
        self._links: Recent[str] = Recent(MAX_LINKS)  # silent record → message before it
        self._starts: Recent[str] = Recent(MAX_STARTS)  # the same, of those before a question
        self._calls = Calls()
        self._ids: dict[tuple[str, ...], str] = {}  # made before: each is needed several times

    def make_id(self, *parts: str) -> str:
        """Return the id under which something of this agent is stored."""
        if (made := self._ids.get(parts)) is None:
            if len(self._ids) >= _MAX_IDS:
                self._ids.clear()
            made = self._ids[parts] = make_uuid("\0".join((self.agent, *parts)))
        return made

    def list_needs(self, entries: Iterable[Entry]) -> Needs:
        """Return what must be looked up in the store before these entries are processed."""
        entries = [entry for entry in entries if not isinstance(entry, SessionFacts)]
        records = [entry for entry in entries if isinstance(entry, Record)]
        names = {record.id for record in records} | {r.parent for r in records if r.parent}
        names |= {name for record in records for name in record.retracts}
        names |= {one.record for one in entries if isinstance(one, RecordedUsage)}
        sessions = {entry.session for entry in entries}
        kept = [self._sessions.get(name) or OpenSession() for name in sessions]
        messages = {self.make_id(name) for name in names}
        linked = [self._links.get(name) or self._starts.get(name) for name in names]
        messages |= {name for name in (*linked, *(one.tail for one in kept)) if name}
        conversations = {self.make_id("session", name) for name in sessions}
        conversations |= {name for session in kept for name in session.conversations}
        return Needs(messages, conversations)

    def build(self, entries: Iterable[Entry]) -> Iterator[Step]:
        """Yield the steps for entries, in the order in which they must be stored."""
        for entry in entries:
            if isinstance(entry, SessionFacts):
                yield entry
            elif isinstance(entry, RecordedUsage):
                yield from self._build_usage(entry)
            else:
                yield from self._build_record(entry)

    def save(self) -> Json:
        """Return the state to store with the cursor."""
        sessions = {
            name: [one.current, one.conversations, one.tail] for name, one in self._sessions.items()
        }
        return {
            "clock": self._clock.isoformat(),
            "sessions": sessions,
            "links": self._links.save(),
            "starts": self._starts.save(),
            "calls": self._calls.save(),
        }

    def load(self, state: Json) -> None:
        """Restore what `save` returned; None starts from nothing."""
        if not isinstance(state, dict):
            return
        self._clock = datetime.fromisoformat(state["clock"])
        for name, (current, conversations, tail) in state["sessions"].items():
            self._sessions.put(name, OpenSession(current, list(conversations), tail))
        self._links.load(state["links"])
        self._starts.load(state["starts"])
        self._calls.load(state["calls"])

    def _build_record(self, record: Record) -> Iterator[Step]:
        session = self._sessions.get(record.session) or OpenSession()
        self._sessions.put(record.session, session)
        self._clock = record.at or self._clock
        message_id = self.make_id(record.id)
        before = self._find_message(record, session)
        if message_id in self.places and record.speaker is None and record.tokens is not None:
            yield TokenCount(message_id, record.tokens)
        elif message_id in self.places:
            self._link(record, session, message_id)
            self._calls.note(self.make_id, record, message_id)
        elif record.speaker is None:
            self._link(record, session, before)
        else:
            yield from self._add(record, session, message_id, before)
        for name in record.retracts:
            if (retracted := self.make_id(name)) in self.places:
                yield RetractedMessage(retracted)
        for result in record.results:
            if (finished := self._calls.finish(record.session, result, self._clock)) is not None:
                yield CallResult(*finished)

    def _build_usage(self, said: RecordedUsage) -> Iterator[ReportedUsage]:
        """Yield what a request took, in the conversation of its record, or in the newest."""
        known = self._links.get(said.record) or self.make_id(said.record)
        place = self.places.get(known)
        session = self._sessions.get(said.session) or OpenSession()
        conversation_id = session.current if place is None else place.conversation_id
        if not conversation_id or said.is_empty:
            return
        record = UsageRecord(
            conversation_id,
            said.model,
            said.input_tokens,
            said.output_tokens,
            said.cached_tokens,
            said.written_tokens,
            said.requests,
            said.usd,
            self.make_id("usage", said.id),
            said.at or self._clock,
        )
        yield ReportedUsage(record)

    def _link(self, record: Record, session: OpenSession, message_id: str | None) -> None:
        """Remember the message of a record which gives none."""
        if message_id is not None:
            self._links.put(record.id, message_id)
            session.tail = message_id

    def _find_message(self, record: Record, session: OpenSession) -> str | None:
        """Return the message that a record follows."""
        if record.parent is None:
            return session.tail
        if record.parent == ROOT:
            return None
        if (parent := self.make_id(record.parent)) in self.places:
            return parent
        message_id = self._links.get(record.parent) or self._starts.get(record.parent)
        if message_id is not None and record.speaker == "user":
            self._starts.put(record.parent, message_id)
        return message_id or session.tail

    def _add(
        self, record: Record, session: OpenSession, message_id: str, before: str | None
    ) -> Iterator[Step]:
        """Yield the message, and the conversation that begins with it."""
        place = None if before is None else self.places.get(before)
        conversation_id = self._choose(record, session, place)
        if conversation_id not in self.turns:
            self.turns[conversation_id] = place.turn_index if place is not None else -1
            after = before if place is not None else None
            yield Begin(conversation_id, record.session, self._clock, after)
        if conversation_id not in session.conversations:
            session.conversations = [*session.conversations[1 - MAX_BRANCHES :], conversation_id]
        session.current, session.tail = conversation_id, message_id
        if record.speaker == "user":
            self.turns[conversation_id] += 1
        self.places[message_id] = StoredPlace(conversation_id, self.turns[conversation_id])
        calls = self._calls.begin(self.make_id, record, message_id, self._clock)
        yield NewMessage(conversation_id, self._make_message(record, message_id, calls))

    def _make_message(
        self, record: Record, message_id: str, calls: tuple[ToolCall, ...]
    ) -> Message:
        return Message(
            role=record.speaker or "assistant",
            content=record.text,
            reasoning=record.reasoning,
            tool_calls=calls,
            uuid=message_id,
            timestamp=self._clock,
            token_count=record.tokens,
            model=None if record.speaker == "user" else record.model,
        )

    def _choose(self, record: Record, session: OpenSession, place: StoredPlace | None) -> str:
        """Return the conversation that a message belongs to.

        A user who goes back in a session starts a branch of it. So does a session that begins
        with another one's records.
        """
        branch = self.make_id("branch", record.session, record.id)
        if place is None and record.parent == ROOT and session.current:
            return branch if record.speaker == "user" else session.current
        if place is None or place.conversation_id not in session.conversations:
            return session.current or self.make_id("session", record.session)
        rewound = place.turn_index < self.turns.get(place.conversation_id, -1)
        return branch if record.speaker == "user" and rewound else place.conversation_id


@dataclass(frozen=True, slots=True)
class _StoredCall:
    """A call that was stored: its id, that of its message, and the files that it writes."""

    call_id: str
    message_id: str
    changes: tuple[RecordedChange, ...] = ()


class Calls:
    """The newest calls of a transcript, by the ids that the agent gave them."""

    def __init__(self) -> None:
        self._open: Recent[_StoredCall] = Recent(MAX_OPEN)
        self._ended: Recent[_StoredCall] = Recent(MAX_ENDED)
        self._early: Recent[RecordedResult] = Recent(MAX_EARLY)  # results without their call

    def begin(
        self, make_id: Callable[..., str], record: Record, message_id: str, at: datetime
    ) -> tuple[ToolCall, ...]:
        """Return the calls of a message, with results that were read before them."""
        self.note(make_id, record, message_id)
        made: list[ToolCall] = []
        for call in record.calls:
            call_id = make_id("call", record.id, call.id)
            one = ToolCall(call.name, call.arguments, None, call_id, at)
            key = _make_key(record.session, call.id)
            if (early := self._early.pop(key)) is not None:
                one = _give_result(one, _add_changes(early, self._end(key)), at)
            made.append(one)
        return tuple(made)

    def note(self, make_id: Callable[..., str], record: Record, message_id: str) -> None:
        """Remember the calls of a message, also of one that was stored before."""
        for call in record.calls:
            call_id = make_id("call", record.id, call.id)
            stored = _StoredCall(call_id, message_id, find_edits(call.name, call.arguments))
            self._open.put(_make_key(record.session, call.id), stored)

    def finish(
        self, session: str, result: RecordedResult, at: datetime
    ) -> tuple[str, ToolCall] | None:
        """Return the message and the call that a result belongs to; without one it waits."""
        key = _make_key(session, result.call_id)
        if (stored := self._end(key)) is None:
            if len(to_text(result.output)) <= MAX_EARLY_CHARS:
                self._early.put(key, result)
            return None
        call = ToolCall("", uuid=stored.call_id)
        return stored.message_id, _give_result(call, _add_changes(result, stored), at)

    def save(self) -> Json:
        return {
            "open": [[key, asdict(stored)] for key, stored in self._open.items()],
            "ended": [[key, asdict(stored)] for key, stored in self._ended.items()],
            "early": [[key, asdict(result)] for key, result in self._early.items()],
        }

    def load(self, state: Json) -> None:
        for recent, name in ((self._open, "open"), (self._ended, "ended")):
            for key, fields in state[name]:
                recent.put(key, _StoredCall(**{**fields, "changes": _load_changes(fields)}))
        for key, fields in state["early"]:
            self._early.put(key, RecordedResult(**{**fields, "changes": _load_changes(fields)}))

    def _end(self, key: str) -> _StoredCall | None:
        """Return the call whose result was read; it is remembered for a second one."""
        if (stored := self._open.pop(key)) is None:
            return self._ended.get(key)
        self._ended.put(key, stored)
        return stored


def _load_changes(fields: Mapping[str, Any]) -> tuple[RecordedChange, ...]:
    return tuple(RecordedChange(**change) for change in fields["changes"])


def _add_changes(result: RecordedResult, stored: _StoredCall | None) -> RecordedResult:
    """Return a result with the files that its call was to write, where it names none itself."""
    if stored is None or result.changes:
        return result
    is_applied = result.success or _APPLIED in to_text(result.output)
    return replace(result, changes=stored.changes) if is_applied else result


def _make_key(session: str, call_id: str) -> str:
    return f"{session} {call_id}"


def _give_result(call: ToolCall, result: RecordedResult, at: datetime) -> ToolCall:
    """Return the call with its result; the files that it changed are next to the output."""
    output = result.output
    size = len(to_text(output).encode("utf-8", "surrogatepass"))
    if result.changes:
        output = {"output": output, "changes": [_show_change(one) for one in result.changes]}
    given = ToolResult(
        result.success, output, result.error, f"{call.uuid}-r", at, result_size_bytes=size
    )
    return replace(call, result=given, success=result.success, duration_ms=result.duration_ms)


def _show_change(change: RecordedChange) -> Json:
    """Return a change with the field names of RagForge's edit results."""
    shown = {
        "file": change.path,
        "before_hash": change.before,
        "after_hash": change.after,
        "diff": change.diff,
    }
    return {name: value for name, value in shown.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Begin:
    """A conversation begins, or branches off after a message of another one."""

    conversation_id: str
    session: str
    at: datetime
    after: str | None = None  # the message


Step: TypeAlias = (
    Begin | NewMessage | CallResult | RetractedMessage | TokenCount | ReportedUsage | SessionFacts
)
"""A message that is added comes last in its conversation. A stored one is left as it is, and so is
a call that has a result; a result comes with the id of its call, whose name is stored already."""
