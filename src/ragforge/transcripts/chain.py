"""Chain: records in the order in which they were said, for agents that name no parents."""

from __future__ import annotations

from dataclasses import replace

from ragforge.domain.text import Json
from ragforge.transcripts.recent import Recent
from ragforge.transcripts.record import ROOT, Record

MOST_STARTS = 128
"""How many questions are remembered: a session can be rewound to one of them."""
MOST_OTHERS = 64


class Chain:
    """Gives every record its parent: the one before it, or where the session was rewound to."""

    def __init__(self) -> None:
        self._last = ROOT
        self._before: Recent[str] = Recent(MOST_STARTS)  # question → the record before it
        self._others: Recent[str] = Recent(MOST_OTHERS)  # the same of what is no question

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
        """Go back by so many questions; they are remembered no longer."""
        names = [name for name, _ in self._before.items()][-turns:] if turns > 0 else []
        for name in reversed(names):
            self._last = self._before.pop(name) or ROOT

    def save(self) -> Json:
        return [self._last, self._before.save(), self._others.save()]

    def load(self, state: Json) -> None:
        self._last, questions, others = state
        self._before.load(questions)
        self._others.load(others)
