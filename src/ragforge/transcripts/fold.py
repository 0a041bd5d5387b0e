"""Fold: records become conversations with messages, one step after the other.

Whatever is read in pieces gives the same as if it were read at once: a step follows from the
record and from what is stored alone. A record that is known already gives no step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias
from uuid import UUID, uuid5

from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.domain.instants import now
from ragforge.domain.text import to_text
from ragforge.transcripts.record import Call, Entry, Record, Result, SessionFacts

_NAMES = UUID("6f0d6c1e-3d0b-5d0e-9a53-0c6a1f7d2b44")
MOST_LINKS = 512
"""How many links of the chain are remembered between two readings: the newest matter."""
MOST_ORPHANS = 64


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stored message is: its conversation and its turn."""

    conversation_id: str
    turn_index: int


@dataclass(frozen=True, slots=True)
class Begin:
    """A conversation begins, or branches off after a message of another one."""

    conversation_id: str
    session: str
    at: datetime
    after: str | None = None  # the message


@dataclass(frozen=True, slots=True)
class Add:
    """A message is added at the end of a conversation."""

    conversation_id: str
    message: Message


@dataclass(frozen=True, slots=True)
class Finish:
    """A call of a stored message gets its result."""

    message_id: str
    call: ToolCall


Step: TypeAlias = Begin | Add | Finish | SessionFacts


@dataclass(slots=True)
class Session:
    """What has to be remembered of a session between two readings."""

    current: str = ""  # the conversation that its newest record belongs to
    conversations: list[str] = field(default_factory=list)
    tail: str | None = None  # its newest message, which may be another session's


class Fold:
    """Makes steps of an agent's records."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.places: dict[str, Place] = {}  # of messages
        self.turns: dict[str, int] = {}  # conversation → its newest turn
        self.calls: dict[str, str] = {}  # call → message
        self.sessions: dict[str, Session] = {}
        self._links: dict[str, str] = {}  # record that says nothing → message before it
        self._orphans: dict[str, Result] = {}  # results whose call was not there yet

    def make_id(self, *parts: str) -> str:
        """Return the id under which something of this agent is stored."""
        return str(uuid5(_NAMES, "\0".join((self.agent, *parts))))

    def list_messages(self, entries: Iterable[Entry]) -> set[str]:
        """Return the messages whose places have to be known before these are folded."""
        records = [entry for entry in entries if isinstance(entry, Record)]
        named = {record.id for record in records} | {r.parent for r in records if r.parent}
        return {self.make_id(name) for name in named} | {
            session.tail for session in self.sessions.values() if session.tail
        }

    def fold(self, entries: Iterable[Entry]) -> Iterator[Step]:
        """Yield the steps that entries give."""
        for entry in entries:
            if isinstance(entry, SessionFacts):
                yield entry
            else:
                yield from self._fold_record(entry)

    def _fold_record(self, record: Record) -> Iterator[Step]:
        session = self.sessions.setdefault(record.session, Session())
        message_id = self.make_id(record.id)
        before = self._find_message(record, session)
        if record.speaker is None or message_id in self.places:
            said = message_id if message_id in self.places else before
            if said is not None:
                self._links[record.id] = said
                session.tail = said
        else:
            yield from self._add(record, session, message_id, before)
        for result in record.results:
            yield from self._finish(record, result)

    def _find_message(self, record: Record, session: Session) -> str | None:
        """Return the message that a record follows."""
        if record.parent is None:
            return session.tail
        if (parent := self.make_id(record.parent)) in self.places:
            return parent
        return self._links.get(record.parent, session.tail)

    def _add(
        self, record: Record, session: Session, message_id: str, before: str | None
    ) -> Iterator[Step]:
        """Yield the message, and the conversation that begins with it."""
        at = record.at or now()
        place = None if before is None else self.places.get(before)
        conversation_id = self._choose(record, session, place)
        if conversation_id not in self.turns:
            is_branch = place is not None and before is not None
            self.turns[conversation_id] = place.turn_index if place is not None else -1
            yield Begin(conversation_id, record.session, at, before if is_branch else None)
            session.conversations.append(conversation_id)
        session.current, session.tail = conversation_id, message_id
        if record.speaker == "user":
            self.turns[conversation_id] += 1
        self.places[message_id] = Place(conversation_id, self.turns[conversation_id])
        calls = tuple(self._make_call(record, call, at) for call in record.calls)
        for call in calls:
            self.calls[call.uuid] = message_id
        yield Add(
            conversation_id,
            Message(
                *(record.speaker or "assistant", record.text, record.reasoning, calls),
                *(message_id, at, record.tokens),
            ),
        )

    def _choose(self, record: Record, session: Session, place: Place | None) -> str:
        """Return the conversation that a message belongs to.

        A user who goes back in a session starts a branch of it. So does a session that begins
        with another one's records.
        """
        first = self.make_id("session", record.session)
        if place is None or place.conversation_id not in session.conversations:
            return session.current or first
        rewound = place.turn_index < self.turns.get(place.conversation_id, -1)
        if record.speaker == "user" and rewound:
            return self.make_id("branch", record.session, record.id)
        return place.conversation_id

    def _make_call(self, record: Record, call: Call, at: datetime) -> ToolCall:
        call_id = self.make_id("call", record.session, call.id)
        made = ToolCall(call.name, call.arguments, None, call_id, at)
        orphan = self._orphans.pop(call_id, None)
        return made if orphan is None else _give_result(made, orphan, at)

    def _finish(self, record: Record, result: Result) -> Iterator[Step]:
        """Yield a result for its call; one without a call waits for it."""
        call_id = self.make_id("call", record.session, result.call_id)
        if (message_id := self.calls.get(call_id)) is None:
            self._orphans[call_id] = result
            while len(self._orphans) > MOST_ORPHANS:
                del self._orphans[next(iter(self._orphans))]
            return
        call = ToolCall("", uuid=call_id)
        yield Finish(message_id, _give_result(call, result, record.at or now()))


def _give_result(call: ToolCall, result: Result, at: datetime) -> ToolCall:
    size = len(to_text(result.output).encode("utf-8", "surrogatepass"))
    given = ToolResult(
        result.success, result.output, result.error, f"{call.uuid}-r", at, result_size_bytes=size
    )
    return replace(call, result=given, success=result.success, duration_ms=result.duration_ms)
