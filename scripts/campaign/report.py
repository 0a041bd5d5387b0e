"""Report: what a campaign counted and what it had to reach, as JSON and as a Markdown table."""

from __future__ import annotations

import json
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

MAX_PROBLEMS = 50
OUTSIDE = "outside"
OWN = "the campaign itself"


@dataclass
class Counts:
    """What happened in one part of a campaign."""

    rounds: int = 0
    seconds: float = 0.0
    kills: int = 0
    inside: int = 0  # kills that hit the victim's work, not its start or its end
    landed: Counter[str] = field(default_factory=Counter)  # kills by the part of the work
    ended_first: int = 0  # the victim was done before it could be killed
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    half_written: int = 0
    drafts: int = 0  # hidden files of killed writes that the next write did not remove
    unknown_edits: int = 0  # files that changed, while the conversation knows of no such call
    damaged: int = 0
    noticed: int = 0
    unnoticed_but_intact: int = 0
    unnoticed_and_wrong: int = 0
    wrong_answers: int = 0  # given with exit code 0 by a file in which SQLite finds damage
    saved: int = 0  # messages that `store repair` saved,
    to_save: int = 0  # out of this many
    tracebacks: int = 0
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  # worth a look, but not promised
    skipped: str = ""

    def add(self, other: Counts) -> None:
        for one in fields(self):
            mine, theirs = getattr(self, one.name), getattr(other, one.name)
            setattr(self, one.name, mine + theirs)

    def note_kill(self, part: str) -> None:
        """Count a kill, which hit a part of the work or none."""
        self.kills += 1
        self.inside += bool(part)
        self.landed[part or OUTSIDE] += 1

    def note_errors(self, printed: str, what: str) -> None:
        """Count a traceback in what a process printed."""
        if "Traceback (most recent call last)" in printed:
            self.tracebacks += 1
            self.problems.append(f"{what}: a traceback, ending in {printed.strip()[-300:]!r}")

    @property
    def failed(self) -> bool:
        """Whether something happened that is promised never to happen."""
        broken = self.lost or self.doubled or self.half_written or self.drafts
        return bool(broken or self.unknown_edits or self.tracebacks or self.problems)


@dataclass(frozen=True, slots=True)
class Minimum:
    """What a part must reach, or its result means nothing."""

    kills: int = 0
    inside: int = 0
    acknowledged: int = 0

    def find_shortfalls(self, counts: Counts) -> list[str]:
        """Return a sentence for each number that was not reached."""
        return [
            f"{name} is {getattr(counts, name)}, but must be at least {required}"
            for name, required in asdict(self).items()
            if getattr(counts, name) < required
        ]


class Report:
    """The counts and minimums of every part, by name."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.parts: dict[str, Counts] = {}
        self.minimums: dict[str, Minimum] = {}
        self._begun = time.monotonic()

    def add(self, name: str, counts: Counts, minimum: Minimum | None = None) -> None:
        self.parts.setdefault(name, Counts()).add(counts)
        if minimum is not None:
            self.minimums[name] = minimum

    def note_crash(self, what: str) -> None:
        """Note that a part of the campaign itself crashed: what it should have seen is unknown."""
        self.add(OWN, Counts(problems=[what]))

    @property
    def shortfalls(self) -> list[str]:
        """What was not reached, in sentences."""
        return [
            f"{name}: {line}"
            for name, minimum in self.minimums.items()
            for line in minimum.find_shortfalls(self.parts[name])
        ]

    @property
    def failed(self) -> bool:
        return any(part.failed for part in self.parts.values()) or bool(self.shortfalls)

    def save(self, path: Path) -> None:
        content = {
            "seed": self.seed,
            "seconds": round(time.monotonic() - self._begun),
            "failed": self.failed,
            "shortfalls": self.shortfalls,
            "minimums": {name: asdict(minimum) for name, minimum in self.minimums.items()},
            "parts": {name: _to_json(counts) for name, counts in self.parts.items()},
        }
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")

    def as_table(self) -> str:
        """Return a Markdown table for each of the two questions: lost, and noticed?"""
        columns = ["rounds", "seconds", "kills", "inside", "acknowledged", "lost", "doubled"]
        columns += ["half_written", "drafts", "unknown_edits", "tracebacks"]
        damage = ["damaged", "noticed", "unnoticed_but_intact", "unnoticed_and_wrong"]
        damage += ["wrong_answers", "saved", "to_save", "tracebacks"]
        killed = {name: part for name, part in self.parts.items() if not part.damaged}
        damaged = {name: part for name, part in self.parts.items() if part.damaged}
        tables = [
            _table(some, names, self.minimums)
            for some, names in ((killed, columns), (damaged, damage))
        ]
        return "\n".join(table for table in tables if table)


def describe_crash(error: BaseException) -> str:
    """Return what happened, and where."""
    frame = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({one.filename}:{one.lineno})" for one in frame)
    return f"{type(error).__name__}: {error}{place}"


def _to_json(counts: Counts) -> dict[str, object]:
    found = {one.name: getattr(counts, one.name) for one in fields(counts)}
    for name in ("problems", "remarks"):
        found[name] = found[name][:MAX_PROBLEMS]
    return {**found, "seconds": round(counts.seconds, 1)}


def _table(parts: dict[str, Counts], columns: list[str], minimums: Mapping[str, Minimum]) -> str:
    if not parts:
        return ""
    rows = [["part", *(name.replace("_", " ") for name in columns)]]
    rows.append(["---"] * len(rows[0]))
    for name, part in parts.items():
        values = [_format(part, column, minimums.get(name)) for column in columns]
        rows.append([name, *(["skipped: " + part.skipped] if part.skipped else values)])
    total = Counts()
    for part in parts.values():
        total.add(part)
    if len(parts) > 1:
        rows.append(["**all**", *(f"**{_format(total, column)}**" for column in columns)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _format(counts: Counts, column: str, minimum: Minimum | None = None) -> str:
    """Return a number, and the minimum that it must be."""
    required = getattr(minimum, column, 0)
    return f"{getattr(counts, column):.0f}" + (f" (≥ {required})" if required else "")
