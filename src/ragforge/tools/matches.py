"""Matches: what a search returns, whichever search it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ragforge.domain.text import Json
from ragforge.tools.confine import Root
from ragforge.tools.deadline import Deadline
from ragforge.tools.excerpt import (
    CONTEXT_CHARS,
    LINE_CHARS,
    Excerpt,
    in_context,
    lines_of,
    one_line,
)
from ragforge.tools.scan import Line


@dataclass(frozen=True, slots=True)
class Match:
    """A place in a file; lines count from 1, and `file` is relative to the project."""

    file: str
    line: int
    content: str
    match: str
    start_line: int
    end_line: int
    similarity: float | None = None
    in_name: bool = False  # it is the file's name that matches

    def to_json(self) -> Json:
        told: dict[str, Json] = {
            "file": self.file,
            "line": self.line,
            "content": self.content,
            "match": self.match,
            "startLine": self.start_line,
            "endLine": self.end_line,
        }
        if self.similarity is not None:
            told["similarity"] = self.similarity
        if self.in_name:
            told["in_name"] = True
        return told


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found. If `truncated`, the search stopped early and `total_matches` is no total."""

    matches: tuple[Match, ...]
    files_searched: int
    total_matches: int
    truncated: bool = False
    timed_out: bool = False
    notes: tuple[str, ...] = field(default=())  # what a reader should know about the search

    def to_json(self) -> Json:
        told: dict[str, Json] = {
            "matches": [match.to_json() for match in self.matches],
            "files_searched": self.files_searched,
            "total_matches": self.total_matches,
            "truncated": self.truncated,
        }
        if self.timed_out:
            told["timed_out"] = True
        if self.notes:
            told["notes"] = list(self.notes)
        return told


@dataclass(frozen=True, slots=True)
class Place:
    """A match before its surroundings are read."""

    line: Line
    similarity: float | None = None
    in_name: bool = False


async def with_context(
    root: Root, places: Sequence[Place], context: int, deadline: Deadline
) -> tuple[Match, ...]:
    """Return matches with as many lines around them; without, where a file cannot be read."""
    if not context:
        return tuple([_match(place, None, LINE_CHARS) for place in places])
    return await deadline.in_thread(lambda: tuple(_read(root, places, context, deadline)))


def _read(root: Root, places: Sequence[Place], context: int, deadline: Deadline) -> list[Match]:
    found: list[Match] = []
    file, lines = "", list[str]()
    for place in places:
        line = place.line
        if line.file != file:
            file = line.file
            lines = [] if deadline.has_passed else lines_of(root, file)
        excerpt = in_context(lines, line.number, context)
        changed = excerpt is None or (not place.in_name and line.text not in lines[line.number - 1])
        found.append(_match(place, None if changed else excerpt, CONTEXT_CHARS))
    return found


def _match(place: Place, excerpt: Excerpt | None, most: int) -> Match:
    line = place.line
    if excerpt is None:
        content = one_line(line.text, line.start, line.end, most)
        excerpt = Excerpt(content, line.number, line.number)
    return Match(
        file=line.file,
        line=line.number,
        content=excerpt.content,
        match=line.match[:LINE_CHARS],
        start_line=excerpt.start_line,
        end_line=excerpt.end_line,
        similarity=place.similarity,
        in_name=place.in_name,
    )
