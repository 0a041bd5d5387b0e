"""Reader: the base of the readers of all agents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import ItemsView, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from ragforge.domain.text import Json
from ragforge.records import dataclass
from ragforge.transcripts import fields
from ragforge.transcripts.fields import hash_texts
from ragforge.transcripts.record import (
    ROOT,
    Call,
    Entry,
    Record,
    RecordedResult,
    SessionFacts,
    Speaker,
)
from ragforge.transcripts.user_text import find_user_text

MAX_STARTS = 128
"""How many questions are remembered: a session can be rewound to one of them."""
MAX_OTHERS = 64


V = TypeVar("V")


class SessionReader(ABC):
    """Reads one transcript, line by line; subclasses add what is specific to an agent."""

    remembered: ClassVar[tuple[str, ...]] = ("_facts", "_is_noted", "_chain", "_said", "_model")
    """The attributes that are stored with the cursor: JSON, facts, or objects that can save."""

    def __init__(self, facts: SessionFacts | None = None) -> None:
        self.unknown: Counter[str] = Counter()  # unknown kinds of records
        self._facts = facts or SessionFacts("")
        self._is_noted = False  # whether the facts were yielded
        self._chain = Chain()
        self._said = self._session  # a hash of all that was said
        self._model: str | None = None

    @property
    def _session(self) -> str:
        return self._facts.session

    @abstractmethod
    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield the entries of a line. Unexpected content is counted, and never raises."""

    def save(self) -> Json:
        """Return the state to continue after the last line."""
        return {name: _save(getattr(self, name)) for name in self.remembered}

    def load(self, state: Json) -> None:
        """Restore what `save` returned."""
        for name in self.remembered:
            before = getattr(self, name)
            if hasattr(before, "load"):
                before.load(state[name])
            else:
                is_facts = isinstance(before, SessionFacts)
                setattr(self, name, SessionFacts(**state[name]) if is_facts else state[name])

    def _note(self, **new: Any) -> Iterator[SessionFacts]:
        """Yield the facts of the session if they changed; None leaves a fact as it is."""
        given = {name: value for name, value in new.items() if value is not None}
        facts = replace(self._facts, **given)
        if facts.session and (facts != self._facts or not self._is_noted):
            self._facts, self._is_noted = facts, True
            yield facts

    def _say(self, speaker: Speaker | None, key: str, **said: Any) -> Record:
        """Return a record whose id is a hash of all that was said before it."""
        texts = (str(said.get(name) or "") for name in ("text", "reasoning"))
        self._said = hash_texts((self._said, speaker or "", key, *texts))
        return self._chain.link(Record(self._session, self._said, None, None, speaker, **said))


def _save(value: Any) -> Json:
    if isinstance(value, SessionFacts):
        return asdict(value)
    return value.save() if hasattr(value, "save") else value


class Chain:
    """Sets the parent of every record: the one before it, or where the session was rewound to."""

    def __init__(self) -> None:
        self._last = ROOT
        self._before: Recent[str] = Recent(MAX_STARTS)  # question → the record before it
        self._others: Recent[str] = Recent(MAX_OTHERS)  # the same for what is not a question

    def link(self, record: Record) -> Record:
        """Return the record with its parent. One that comes again keeps its place."""
        table = self._before if record.speaker == "user" else self._others
        if (parent := table.get(record.id)) is not None:
            return replace(record, parent=parent)
        table.put(record.id, self._last)
        linked = replace(record, parent=self._last)
        self._last = record.id
        return linked

    def rewind(self, question: str) -> bool:
        """Go back to before a question; tell whether it is remembered."""
        if (before := self._before.get(question)) is None:
            return False
        self._last = before
        return True

    def rewind_turns(self, turns: int) -> None:
        """Go back by a number of questions, and forget them."""
        names = [name for name, _ in self._before.items()][-turns:] if turns > 0 else []
        for name in reversed(names):
            self._last = self._before.pop(name) or ROOT

    def save(self) -> Json:
        return [self._last, self._before.save(), self._others.save()]

    def load(self, state: Json) -> None:
        self._last, questions, others = state
        self._before.load(questions)
        self._others.load(others)


class Recent(Generic[V]):
    """Values by name, up to a number; the oldest are forgotten.

    A transcript may refer back to anything, but what is remembered is stored with every cursor,
    so it is limited.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: dict[str, V] = {}

    def get(self, name: str) -> V | None:
        return self._values.get(name)

    def put(self, name: str, value: V) -> None:
        """Keep a value as the newest."""
        self._values.pop(name, None)
        self._values[name] = value
        if len(self._values) > self._limit:
            del self._values[next(iter(self._values))]

    def pop(self, name: str) -> V | None:
        return self._values.pop(name, None)

    def items(self) -> ItemsView[str, V]:
        """Return all, the oldest first."""
        return self._values.items()

    def save(self) -> Json:
        return dict(self._values)

    def load(self, state: Json) -> None:
        for name, value in state.items():
            self.put(name, value)


_USES: dict[str, Use] = {
    "text": "text",
    **dict.fromkeys(("tool_use", "tool-call", "tool_call"), "call"),
    **dict.fromkeys(("tool_result", "tool-result"), "result"),
    **dict.fromkeys(("thinking", "reasoning"), "thought"),
    **dict.fromkeys(("image", "file", "redacted-reasoning", "redacted_thinking"), "none"),
}
_SILENT = frozenset(("turn_ended", "system", "developer"))
MAX_OPEN = 32


Use: TypeAlias = Literal["text", "thought", "call", "result", "none"]


class RoleReader(SessionReader):
    """Reads messages in order; the id of one is a hash of all that was said before it.

    A call without an id is answered by the next result without one that fits.
    """

    remembered = ("_facts", "_is_noted", "_said", "_chain", "_open")

    def __init__(self, facts: SessionFacts, at: datetime | None = None) -> None:
        """`at` is the time of messages without one."""
        super().__init__(facts)
        self._at = at
        self._open: list[str] = []  # calls without results

    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield what one message says."""
        yield from self._note()
        role = fields.text(content, "role") or fields.text(content, "type") or "without a role"
        message = fields.mapping(content, "message") or content
        at = fields.time(content, "timestamp") or fields.time(content, "ts") or self._at
        if role in ("user", "assistant", "tool"):
            yield from self._read_blocks(role, message, at, fields.text(content, "model"))
        elif role not in _SILENT:
            self.unknown[role] += 1

    def _read_blocks(
        self, role: str, message: Mapping[str, Any], at: datetime | None, model: str | None
    ) -> Iterator[Entry]:
        said = sort_blocks(fields.blocks(message.get("content")), _USES, self.unknown, "block")
        made, given, reasoning = said.calls, said.results, said.reasoning
        text = find_user_text(said.text) if role == "user" else said.text
        keys = [_get_id(block) or "" for block in (*made, *given)]
        if not (text or reasoning or made or given):
            return
        self._said = fields.hash_texts((self._said, role, text, reasoning or "", *keys))
        results = tuple(self._read_result(block) for block in given)
        calls = tuple(self._read_call(block, number) for number, block in enumerate(made))
        speaker: Literal["user", "assistant"] | None = None
        if role == "assistant" and (text or reasoning or calls):
            speaker = "assistant"
        elif role == "user" and text:
            speaker = "user"
        record = Record(
            self._session,
            self._said,
            at=at,
            speaker=speaker,
            text=text,
            reasoning=reasoning,
            calls=calls,
            results=results,
            model=model if speaker == "assistant" else None,
        )
        yield self._chain.link(record)

    def _read_call(self, block: Mapping[str, Any], number: int) -> Call:
        call_id = _get_id(block) or f"{self._said}/{number}"
        self._open = [*self._open[1 - MAX_OPEN :], call_id]
        name = fields.text(block, "name") or fields.text(block, "toolName") or "tool"
        arguments = block.get("input", block.get("args", block.get("arguments")))
        return Call(call_id, name, fields.load_arguments(arguments))

    def _read_result(self, block: Mapping[str, Any]) -> RecordedResult:
        call_id = _get_id(block) or ""
        if call_id not in self._open and self._open:
            call_id = self._open[0]
        self._open = [name for name in self._open if name != call_id]
        value = block.get("content", block.get("result", block.get("output")))
        output = fields.join_texts(value) if isinstance(value, str | list) else value
        failed = bool(block.get("is_error") or block.get("isError"))
        error = str(output) or "it failed"
        return RecordedResult(call_id, not failed, output, error=error if failed else None)


def _get_id(block: Mapping[str, Any]) -> str | None:
    names = ("tool_use_id", "toolCallId", "id")
    return next(filter(None, (fields.text(block, name) for name in names)), None)


@dataclass(frozen=True, slots=True)
class Content:
    """The text of a message, and the blocks of its calls and results."""

    text: str
    reasoning: str | None
    calls: list[Mapping[str, Any]]
    results: list[Mapping[str, Any]]


def sort_blocks(
    blocks: Iterable[Mapping[str, Any]], uses: Mapping[str, Use], unknown: Counter[str], what: str
) -> Content:
    """Sort blocks by the uses of their types; unknown types are counted."""
    found: defaultdict[Use, list[Mapping[str, Any]]] = defaultdict(list)
    for block in blocks:
        kind = fields.text(block, "type") or "without a type"
        if (use := uses.get(kind)) is None:
            unknown[f"{what} {kind}"] += 1
        else:
            found[use].append(block)
    reasoning = _join(found["thought"], "thinking") or None
    return Content(_join(found["text"], "text"), reasoning, found["call"], found["result"])


def _join(blocks: Iterable[Mapping[str, Any]], name: str) -> str:
    texts = (fields.text(block, name) or fields.text(block, "text") for block in blocks)
    return "\n".join(filter(None, texts))
