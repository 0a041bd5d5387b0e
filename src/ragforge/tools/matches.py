"""Matches: the result of grep_files and search_files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ragforge.domain.text import Json
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.deadline import Deadline
from ragforge.tools.excerpt import (
    CONTEXT_CHARS,
    LINE_CHARS,
    FileExcerpt,
    read_lines,
    shorten_around,
    take_context,
)
from ragforge.tools.scan import MatchingLine


@dataclass(frozen=True, slots=True)
class FileMatch:
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
        facts: dict[str, Json] = {
            "file": self.file,
            "line": self.line,
            "content": self.content,
            "match": self.match,
            "startLine": self.start_line,
            "endLine": self.end_line,
        }
        if self.similarity is not None:
            facts["similarity"] = self.similarity
        if self.in_name:
            facts["in_name"] = True
        return facts


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found. If `truncated`, the search stopped early and `total_matches` is no total."""

    matches: tuple[FileMatch, ...]
    files_searched: int
    total_matches: int
    truncated: bool = False
    timed_out: bool = False
    notes: tuple[str, ...] = field(default=())  # what a reader should know about the search

    def to_json(self) -> Json:
        facts: dict[str, Json] = {
            "matches": [match.to_json() for match in self.matches],
            "files_searched": self.files_searched,
            "total_matches": self.total_matches,
            "truncated": self.truncated,
        }
        if self.timed_out:
            facts["timed_out"] = True
        if self.notes:
            facts["notes"] = list(self.notes)
        return facts


@dataclass(frozen=True, slots=True)
class ScoredLine:
    """A match before its surroundings are read."""

    line: MatchingLine
    similarity: float | None = None
    in_name: bool = False


async def add_context(
    root: Root, places: Sequence[ScoredLine], context: int, deadline: Deadline
) -> tuple[FileMatch, ...]:
    """Return matches with so many lines around each; without, if its file cannot be read."""
    if not context:
        return tuple([_build_match(place, None, LINE_CHARS) for place in places])
    return await deadline.run_in_thread(lambda: tuple(_read(root, places, context, deadline)))


def _read(
    root: Root, places: Sequence[ScoredLine], context: int, deadline: Deadline
) -> list[FileMatch]:
    found: list[FileMatch] = []
    file, lines = "", list[str]()
    for place in places:
        line = place.line
        if line.file != file:
            file = line.file
            lines = [] if deadline.has_passed else read_lines(root, file)
        excerpt = take_context(lines, line.number, context)
        changed = excerpt is None or (not place.in_name and line.text not in lines[line.number - 1])
        found.append(_build_match(place, None if changed else excerpt, CONTEXT_CHARS))
    return found


def _build_match(place: ScoredLine, excerpt: FileExcerpt | None, most: int) -> FileMatch:
    line = place.line
    if excerpt is None:
        content = shorten_around(line.text, line.start, line.end, most)
        excerpt = FileExcerpt(content, line.number, line.number)
    return FileMatch(
        file=line.file,
        line=line.number,
        content=excerpt.content,
        match=line.match[:LINE_CHARS],
        start_line=excerpt.start_line,
        end_line=excerpt.end_line,
        similarity=place.similarity,
        in_name=place.in_name,
    )
