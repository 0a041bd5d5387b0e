"""Exploration: the answers to a question about the code that has a name, short enough to read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ragforge.brain.search.subjects import Subject, is_whole_file
from ragforge.domain.code import RelationAsked, Scope, ScopeName
from ragforge.domain.text import Json, keep_beginning
from ragforge.records import dataclass
from ragforge.search.extracts import extract

MAX_PLACES = 160
"""Places in one reply, if no other limit is given."""
MAX_NEIGHBOURS = 60
MAX_NAMED = 10
MAX_ALSO = 3
SOURCE_CHARS = 2_000
UNUSED = "Nothing names these. Frameworks, reflection and unresolved calls may still use them."
Found: TypeAlias = dict[str, list[ScopeName | str]]
"""Places by headings: scopes, or paths of files and names of libraries."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about some code; without a relation, what is next to it."""

    name: str = ""  # bare or qualified, a path, or `path:line`; "" only for what is unused
    relation: RelationAsked | None = None
    depth: int | None = None
    limit: int | None = None
    source: bool = False
    file: str | None = None  # only what is in this file

    @property
    def max_places(self) -> int:
        return self.limit or (MAX_NEIGHBOURS if self.relation is None else MAX_PLACES)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found about one subject."""

    subject: Subject
    found: Mapping[str, Sequence[ScopeName | str]]  # by headings
    inside: ScopeName | None = None  # what holds it
    more: int = 0  # left out
    scope: Scope | None = None  # with its source, if that was asked for
    inner: Sequence[ScopeName] = ()  # the scopes in its file, if its source is long

    def list_ids(self) -> set[str]:
        """Return the ids of all scopes, and paths, that the answer shows."""
        places = [one for many in self.found.values() for one in many]
        listed = {one if isinstance(one, str) else one.uuid for one in places}
        return listed.union(self.subject.ids, [self.inside.uuid] if self.inside else ())

    def to_json(self, *, short: bool = True) -> dict[str, Json]:
        """Return the places by headings; if short, a line for each file: `Session.login:12`."""
        facts: dict[str, Json] = {"file": self.subject.path}
        if not self.subject.path:
            main, *others = self.subject.parts
            facts = {"place": format_place(main), "type": main.type}
            if others:
                facts["also"] = [f"{one.file}:{one.start_line}" for one in others[:MAX_ALSO]]
            if self.scope is not None:
                facts["source"] = cut_source(self.scope, self.inner, (), SOURCE_CHARS)
            elif main.signature and not short:
                facts["signature"] = main.signature
        if self.inside is not None:
            facts["inside"] = [format_place(self.inside)]
        for heading, places in self.found.items():
            facts[heading] = _group_by_file(places) if short else [*map(_format, places)]
        if self.more:
            facts["more"] = self.more
        if "unused" in self.found:
            facts["note"] = UNUSED
        elif short and not any(self.found.values()):
            facts["note"] = "None is known."
        return facts


@dataclass(frozen=True, slots=True)
class Exploration:
    """The answers to a question: several if several things have the name."""

    question: Question
    answers: tuple[Answer, ...]
    others: tuple[Subject, ...] = ()  # of the same name, without an answer

    def to_json(self) -> dict[str, Json]:
        """Return the answer, or the places with this name and what was found about some."""
        if self.question.relation is None:
            return self._show_neighbours()
        answers = [answer.to_json() for answer in self.answers]
        if len(answers) == 1 and not self.others:
            return answers[0]
        facts: dict[str, Json] = {"several": len(answers) + len(self.others), "answers": [*answers]}
        if self.others:
            facts["others"] = [format_subject(one) for one in self.others[:MAX_NAMED]]
        return facts

    def _show_neighbours(self) -> dict[str, Json]:
        shown = [answer.to_json(short=False) for answer in self.answers]
        if shown and not self.others:
            return shown[0]
        subjects = [*(answer.subject for answer in self.answers), *self.others]
        facts: dict[str, Json] = {
            "several": [format_subject(one) for one in subjects[:MAX_NAMED]],
            "note": "Give file and line of the one you mean.",
        }
        return facts | ({"most_likely": shown[0]} if shown else {})


def format_place(scope: ScopeName | Scope) -> str:
    """Return where a scope is, with its name."""
    return f"{scope.file}:{scope.start_line}-{scope.end_line} {scope.qualified_name}"


def format_subject(subject: Subject) -> str:
    """Return where a subject is, with its name."""
    return subject.path or format_place(subject.parts[0])


def _format(place: ScopeName | str) -> str:
    return place if isinstance(place, str) else format_place(place)


def _group_by_file(places: Sequence[ScopeName | str]) -> list[Json]:
    """Return a line for each file with its names, or the files or libraries themselves.

    A name that begins with a dot has the same holder as the one before it.
    """
    scopes = [one for one in places if not isinstance(one, str)]
    if len(scopes) < len(places):
        return [one for one in places if isinstance(one, str)]
    by_file: dict[str, list[str]] = {}
    holders: dict[str, str] = {}
    for scope in scopes:
        known = by_file.setdefault(scope.file, [])
        if not is_whole_file(scope):
            outer, _, name = scope.qualified_name.rpartition(".")
            is_next = outer and holders.get(scope.file) == outer
            holders[scope.file] = outer
            known.append(f"{'.' + name if is_next else scope.qualified_name}:{scope.start_line}")
    return [f"{file}: {', '.join(names)}" if names else file for file, names in by_file.items()]


def cut_source(scope: Scope, inner: Sequence[ScopeName], words: Collection[str], chars: int) -> str:
    """Return a source in about `chars` characters; of a long class, what matters for the words."""
    if scope.search_text is not None and len(scope.source) > chars:
        found = extract(scope, inner, words, chars)
        if found is not None:
            return found.text
    return keep_beginning(scope.source, chars)


def share_room(answers: Sequence[Answer], limit: int) -> tuple[Answer, ...]:
    """Return answers with `limit` places in all."""
    rooms = _allot([sum(map(len, one.found.values())) for one in answers], limit)
    return tuple(_limit(one, room) for one, room in zip(answers, rooms, strict=True))


def _limit(answer: Answer, limit: int) -> Answer:
    rooms = _allot([len(places) for places in answer.found.values()], limit)
    kept: Found = {
        heading: list(places[:room])
        for (heading, places), room in zip(answer.found.items(), rooms, strict=True)
    }
    more = sum(map(len, answer.found.values())) - sum(rooms)
    return replace(answer, found=kept, more=more)


def _allot(sizes: Sequence[int], limit: int) -> list[int]:
    """Return how many of each size there is room for; what small ones leave, the others get."""
    rooms, left = [0] * len(sizes), limit
    for rank, (size, number) in enumerate(sorted((size, n) for n, size in enumerate(sizes))):
        rooms[number] = min(size, left // (len(sizes) - rank))
        left -= rooms[number]
    return rooms
