"""Labels: what would have helped with a prompt, as what the agent then did shows.

- The files it edited, of those that existed or had been touched before. "Fresh" are those that the
  session had neither read nor edited before the prompt.
- Earlier turns of other sessions that edited the same lines, here called strong: at least SHARED
  rare lines in common. A line is rare if the edits of the whole history have it in at most
  MAX_FILES files and MAX_TURNS turns.
- Earlier turns of other sessions that edited the same files, which is much less.

Sessions that share a prompt of MIN_SAME characters, word for word, are copies of one another
(forks, resumed sessions, the same plan run twice): one never counts as a memory for the other.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.desk.deeds import MAX_EDITED, Turn, count_lines

SHARED = 3
MAX_FILES = 2
MAX_TURNS = 12
MIN_SAME = 40
_NAMES = re.compile(
    r"`[^`\s]{3,}`"  # in backticks
    r"|\b[\w-]+(?:/[\w.-]+)+"  # a path
    r"|\b[\w-]+\.(?:go|md|sh|ya?ml|json|toml|py|ts|js|mod)\b"
    r"|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*"  # camelCase, PascalCase
    r"|\b[A-Za-z]+_\w+"
)
_ADDRESS = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Label:
    """What would have helped with one prompt at a cut-off."""

    turn: Turn
    edited: frozenset[str]
    fresh: frozenset[str]
    read: frozenset[str]
    strong: Mapping[str, tuple[str, ...]]  # turn → the lines in common
    same_file: frozenset[str]  # turns
    names: bool  # the prompt names a path or an identifier


@dataclass(frozen=True, slots=True)
class History:
    """All turns in order of time, which of their lines are rare, and which sessions are copies."""

    turns: Sequence[Turn]
    rare: frozenset[str]
    families: Mapping[str, str]

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> History:
        ordered = sorted(turns, key=lambda turn: (turn.at, turn.id))
        files, owners = count_lines(ordered)
        rare = frozenset(
            line
            for line, some in files.items()
            if len(some) <= MAX_FILES and len(owners[line]) <= MAX_TURNS
        )
        return cls(ordered, rare, find_families(ordered))

    def are_related(self, one: Turn, other: Turn) -> bool:
        return self.families[one.session] == self.families[other.session]

    def list_askable(self) -> list[Turn]:
        """Return the turns whose prompt is asked: real ones with edits, each prompt once."""
        seen: set[tuple[str, str]] = set()
        found = []
        for turn in self.turns:
            key = (self.families[turn.session], _flatten(turn.prompt))
            if turn.is_command or not turn.edits or len(turn.edited) > MAX_EDITED or key in seen:
                continue
            seen.add(key)
            found.append(turn)
        return found

    def label(self, turn: Turn, moment: str, files: frozenset[str]) -> Label:
        """Return what would have helped, of what was known at a moment; `files` existed then."""
        known = set(files)
        own: set[str] = set()
        shared: dict[str, set[str]] = defaultdict(set)
        same_file: set[str] = set()
        wanted = {line for edit in turn.edits for line in edit.lines} & self.rare
        for other in self.turns:
            if other.session == turn.session and other.at < turn.at:
                own |= other.edited | {file for _, file in other.reads}
            if other.at >= moment:
                continue
            done = [edit for edit in other.edits if edit.at < moment]
            known |= {edit.file for edit in done}
            if self.are_related(other, turn):
                continue
            for edit in done:
                shared[other.id] |= wanted & edit.lines
                if edit.file in turn.edited:
                    same_file.add(other.id)
        edited = turn.edited & known
        strong = {id_: tuple(sorted(some)) for id_, some in shared.items() if len(some) >= SHARED}
        read = frozenset(file for _, file in turn.reads) & known
        return Label(
            *(turn, edited, edited - own, read, strong, frozenset(same_file)),
            names_something(turn.prompt),
        )


def names_something(prompt: str) -> bool:
    """Tell whether a prompt names a path or an identifier."""
    return _NAMES.search(_ADDRESS.sub("", prompt)) is not None


def find_families(turns: Sequence[Turn]) -> dict[str, str]:
    """Return one name for all sessions that are copies of one another."""
    parent = {turn.session: turn.session for turn in turns}

    def find(name: str) -> str:
        while parent[name] != name:
            name = parent[name]
        return name

    first: dict[str, str] = {}
    for turn in turns:
        if len(text := _flatten(turn.prompt)) >= MIN_SAME and not turn.is_command:
            parent[find(turn.session)] = find(first.setdefault(text, turn.session))
    return {name: find(name) for name in parent}


def _flatten(text: str) -> str:
    return " ".join(text.split())


def count_edits(turns: Sequence[Turn]) -> Counter[str]:
    return Counter(edit.file for turn in turns for edit in turn.edits)
