"""Reader: the base of the readers of all agents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import ItemsView, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, ClassVar, Generic, TypeVar

from ragforge.domain.text import Json
from ragforge.transcripts.fields import hash_texts
from ragforge.transcripts.record import ROOT, Entry, Record, SessionFacts, Speaker

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
