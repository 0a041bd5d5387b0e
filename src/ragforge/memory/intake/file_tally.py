"""File tally: what was seen in one transcript, to say why nothing of it was imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from ragforge.domain.transcripts import IntakeStep, NewMessage
from ragforge.memory.intake.report import ImportReport
from ragforge.records import dataclass
from ragforge.transcripts.record import Record
from ragforge.transcripts.source import Piece

MAX_KINDS = 5


@dataclass(slots=True)
class FileTally:
    """What was seen in the pieces of one transcript."""

    agent: str
    path: Path
    lines: int = 0
    has_records: bool = False
    has_words: bool = False
    has_messages: bool = False  # that are new
    unknown: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    _uncounted: list[tuple[Piece, Sequence[IntakeStep]]] = field(default_factory=list)

    def add(self, piece: Piece, steps: Sequence[IntakeStep]) -> None:
        """Look at a piece and what was made of it."""
        self.lines += piece.lines
        self.unknown.update(piece.unknown)
        self.skipped.update(piece.skipped)
        records = [entry for entry in piece.entries if isinstance(entry, Record)]
        self.has_records |= bool(records)
        self.has_words |= any(record.speaker is not None for record in records)
        self.has_messages |= any(isinstance(step, NewMessage) for step in steps)
        self._uncounted.append((replace(piece, entries=()), steps))

    def move_to(self, report: ImportReport) -> None:
        """Count in a report what was added since the last time."""
        for piece, steps in self._uncounted:
            report.add(self.agent, self.path, piece, steps)
        self._uncounted.clear()

    @property
    def is_foreign(self) -> bool:
        """Whether the file has another shape than the agent's transcripts."""
        return not self.has_records and bool(self.unknown or self.skipped)

    def explain(self, is_excluded: bool) -> str:
        """Return why nothing was imported."""
        if is_excluded:
            return "its folder is excluded"
        if self.has_words:
            return "all of it is stored already, or was deleted"
        if not self.lines:
            return "it holds no complete message"
        lines = f"{self.lines:,} lines" if self.lines > 1 else "1 line"
        if not self.is_foreign:
            return f"nobody says anything in its {lines}"
        kinds = _list_kinds(self.unknown | self.skipped)
        return f"nothing in its {lines} looks like this agent's transcripts: {kinds}"


def _list_kinds(counts: Mapping[str, int]) -> str:
    common = Counter(counts).most_common()
    more = ["…"] if len(common) > MAX_KINDS else []
    return ", ".join([*(f"{kind} ({count:,})" for kind, count in common[:MAX_KINDS]), *more])
