"""Report: what a campaign counted, as JSON and as a Markdown table."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

MOST_PROBLEMS = 50


@dataclass
class Counts:
    """What happened in one part of a campaign."""

    rounds: int = 0
    kills: int = 0
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
    to_save: int = 0  # out of so many
    tracebacks: int = 0
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  # worth a look, but promised by nobody
    skipped: str = ""

    def add(self, other: Counts) -> None:
        for one in fields(self):
            mine, theirs = getattr(self, one.name), getattr(other, one.name)
            setattr(self, one.name, mine + theirs)

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


class Report:
    """The counts of every part, by name."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.parts: dict[str, Counts] = {}
        self._begun = time.monotonic()

    def add(self, name: str, counts: Counts) -> None:
        self.parts.setdefault(name, Counts()).add(counts)

    @property
    def failed(self) -> bool:
        return any(part.failed for part in self.parts.values())

    def save(self, path: Path) -> None:
        parts = {name: asdict(counts) for name, counts in self.parts.items()}
        for part in parts.values():
            for name in ("problems", "remarks"):
                del part[name][MOST_PROBLEMS:]
        seconds = round(time.monotonic() - self._begun)
        content = {"seed": self.seed, "seconds": seconds, "parts": parts}
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")

    def as_table(self) -> str:
        """Return a Markdown table for each of the two questions: lost, and noticed?"""
        columns = ["rounds", "kills", "acknowledged", "lost", "doubled", "half_written"]
        columns += ["drafts", "unknown_edits", "tracebacks"]
        damage = ["damaged", "noticed", "unnoticed_but_intact", "unnoticed_and_wrong"]
        damage += ["wrong_answers", "saved", "to_save", "tracebacks"]
        killed = {name: part for name, part in self.parts.items() if not part.damaged}
        damaged = {name: part for name, part in self.parts.items() if part.damaged}
        tables = [_table(some, names) for some, names in ((killed, columns), (damaged, damage))]
        return "\n".join(table for table in tables if table)


def _table(parts: dict[str, Counts], columns: list[str]) -> str:
    if not parts:
        return ""
    rows = [["part", *(name.replace("_", " ") for name in columns)]]
    rows.append(["---"] * len(rows[0]))
    for name, part in parts.items():
        values = [str(getattr(part, column)) for column in columns]
        rows.append([name, *(["skipped: " + part.skipped] if part.skipped else values)])
    total = Counts()
    for part in parts.values():
        total.add(part)
    if len(parts) > 1:
        rows.append(["**all**", *(f"**{getattr(total, column)}**" for column in columns)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
