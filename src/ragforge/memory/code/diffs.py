"""Diffs: which lines an edit changed, and where the other lines moved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragforge.patterns import compile_on_use
from ragforge.records import dataclass

_HEAD = compile_on_use(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk of a unified diff."""

    old_start: int  # its first line before and after; lines count from 1
    new_start: int
    signs: str  # of each of its lines: " ", "-" or "+"

    @property
    def old_end(self) -> int:
        """The first line after the hunk, before the edit."""
        return self.old_start + len(self.signs) - self.signs.count("+")

    @property
    def growth(self) -> int:
        """How many lines the edit added."""
        return self.signs.count("+") - self.signs.count("-")


def read_diff(diff: str) -> list[Hunk]:
    """Return the hunks of a unified diff; other lines are skipped."""
    hunks: list[Hunk] = []
    head: tuple[int, int] | None = None
    signs: list[str] = []
    for line in [*diff.split("\n"), "@@"]:
        found = _HEAD.match(line)
        if head is not None and (found or line[:1] not in (" ", "-", "+")):
            hunks.append(Hunk(*head, "".join(signs)))
            head, signs = None, []
        if found:
            old, old_count, new, new_count = found.groups()
            # An empty side has the number of the line before it.
            head = int(old) + (old_count == "0"), int(new) + (new_count == "0")
        elif head is not None:
            signs.append(line[0])
    return hunks


def list_changed_lines(hunks: Iterable[Hunk]) -> list[int]:
    """Return the new file's lines that were written, and those before removed lines."""
    found: dict[int, None] = {}
    for hunk in hunks:
        line = hunk.new_start
        for sign in hunk.signs:
            if sign == "-":
                found[max(1, line - 1)] = None
            else:
                if sign == "+":
                    found[line] = None
                line += 1
    return list(found)


def follow_line(line: int, hunks: Sequence[Hunk]) -> int:
    """Return the number in the new file of a line of the old file, or of what replaced it."""
    moved = line
    for hunk in hunks:
        if line >= hunk.old_end:
            moved += hunk.growth
        elif line >= hunk.old_start:
            return _follow_inside(line, hunk)
    return moved


def _follow_inside(line: int, hunk: Hunk) -> int:
    old, new = hunk.old_start, hunk.new_start
    for sign in hunk.signs:
        if sign == "+":
            new += 1
            continue
        if old == line:
            break
        old += 1
        new += sign == " "
    return max(1, new)
