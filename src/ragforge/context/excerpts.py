"""Excerpts: parts of files that are relevant to a question."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from ragforge.brain.files.exclusions import has_secret_content, is_secret_file
from ragforge.domain.code import FileLine, Scope
from ragforge.errors import InputError
from ragforge.ports.code_graph import CodeGraph
from ragforge.records import dataclass
from ragforge.tools.confine import Root

Source: TypeAlias = Literal["semantic", "grep", "command", "fuzzy"]
"""The search that found something."""


WINDOW_LINES = 50
MAX_FILE_BYTES = 5_000_000
SCOPE_CONFIDENCE = 0.1
WINDOW_FACTOR = 0.9


SEMANTIC_WEIGHT = 0.7
"""The weight of the semantic search against the search of files (benchmark `context`)."""
AGAIN = 0.05
"""What each further search that found the same excerpt adds to its score."""


@dataclass(frozen=True, slots=True)
class Location:
    """A line that a search tool found, before its surroundings are read."""

    file: str
    line: int
    score: float
    confidence: float
    source: Source


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a file, as they appear in a context."""

    file: str
    start_line: int
    end_line: int
    name: str
    text: str
    score: float
    confidence: float
    found_by: tuple[str, ...]
    is_scope: bool  # else a window around a line
    fetched_at: datetime | None = None  # of a web page
    scope: Scope | None = None  # that is shown, or part of it
    numbers: tuple[int, ...] = ()  # of the lines; 0 for one that is not in the file
    name_line: int = 0  # the line of the file with the name; 0: there is none

    @classmethod
    def of_scope(
        cls,
        scope: Scope,
        score: float,
        confidence: float,
        found_by: tuple[str, ...],
        fetched_at: datetime | None = None,
    ) -> Excerpt:
        """Return an excerpt of a scope, with its search text; see `listing` for its code."""
        return cls(
            file=scope.file,
            start_line=scope.start_line,
            end_line=scope.end_line,
            name=scope.qualified_name,
            text=scope.indexed_text,
            score=score,
            confidence=confidence,
            found_by=found_by,
            is_scope=True,
            fetched_at=fetched_at,
            scope=scope,
            numbers=tuple(scope.line_numbers) if scope.search_text is None else (),
            name_line=scope.name_line,
        )

    @property
    def line_numbers(self) -> tuple[int, ...]:
        """The number of each line in the file; none if the text is not made of its lines."""
        if self.numbers or self.text.count("\n") != self.end_line - self.start_line:
            return self.numbers
        return tuple(range(self.start_line, self.end_line + 1))

    @property
    def place(self) -> str:
        return f"{self.file}:{self.start_line}-{self.end_line}"


async def enrich_locations(
    locations: Sequence[Location], code: CodeGraph | None, project_id: str, root: Path
) -> list[Excerpt]:
    """Return an excerpt for each location; without a code graph, only from the files."""
    scopes: Sequence[Scope | None] = [None] * len(locations)
    if code is not None and locations:
        places = [FileLine(location.file, location.line) for location in locations]
        scopes = await code.scopes_at(project_id, places)
    bare = [location for location, scope in zip(locations, scopes, strict=True) if scope is None]
    windows = iter(await asyncio.to_thread(_cut_windows, bare, Root.at(root)) if bare else ())
    excerpts = [
        _excerpt_scope(location, scope) if scope is not None else next(windows)
        for location, scope in zip(locations, scopes, strict=True)
    ]
    return [excerpt for excerpt in excerpts if excerpt is not None]


def cut_window(location: Location, lines: Sequence[str]) -> Excerpt:
    """Return the lines around a location."""
    start = max(1, min(location.line, len(lines)) - WINDOW_LINES)
    end = min(len(lines), location.line + WINDOW_LINES)
    return Excerpt(
        file=location.file,
        start_line=start,
        end_line=end,
        name=f"lines {start} to {end}",
        text="\n".join(lines[start - 1 : end]),
        score=location.score * WINDOW_FACTOR,
        confidence=location.confidence,
        found_by=(location.source,),
        is_scope=False,
    )


def _excerpt_scope(location: Location, scope: Scope) -> Excerpt:
    confidence = min(1.0, location.confidence + SCOPE_CONFIDENCE)
    return Excerpt.of_scope(scope, location.score, confidence, (location.source,))


def _cut_windows(locations: Sequence[Location], root: Root) -> list[Excerpt | None]:
    files: dict[str, list[str] | None] = {}
    found: list[Excerpt | None] = []
    for location in locations:
        if location.file not in files:
            files[location.file] = _read_lines(root, location.file)
        lines = files[location.file]
        found.append(cut_window(location, lines) if lines else None)
    return found


def _read_lines(root: Root, file: str) -> list[str] | None:
    """Return the lines of a file within the project, or None if it may not or cannot be read."""
    try:
        path = root.inside(file)
        if is_secret_file(path):
            return None
        with root.open(path) as stream:
            data = stream.read(MAX_FILE_BYTES)
    except (OSError, InputError):
        return None
    if b"\0" in data or has_secret_content(path, data):
        return None
    return data.decode("utf-8", "replace").splitlines()


def merge(excerpts: Iterable[Excerpt]) -> list[Excerpt]:
    """Return each place once, best first; overlapping windows joined, scopes before windows."""
    scopes: dict[tuple[str, int, int], Excerpt] = {}
    windows: dict[str, list[Excerpt]] = {}
    for excerpt in excerpts:
        if excerpt.is_scope:
            place = (excerpt.file, excerpt.start_line, excerpt.end_line)
            scopes[place] = _combine(scopes[place], excerpt) if place in scopes else excerpt
        else:
            windows.setdefault(excerpt.file, []).append(excerpt)
    of_file: dict[str, list[Excerpt]] = {}
    for excerpt in scopes.values():
        of_file.setdefault(excerpt.file, []).append(excerpt)
    kept: list[Excerpt] = []
    for file in of_file.keys() | windows.keys():
        inside = of_file.get(file, [])
        whole = [excerpt for excerpt in inside if not _is_inside(excerpt, inside)]
        kept += whole
        kept += [one for one in _join_windows(windows.get(file, [])) if not _is_covered(one, whole)]
    return sorted(kept, key=sort_key)


def fuse(semantic: Sequence[Excerpt], initial: Sequence[Excerpt]) -> list[Excerpt]:
    """Return the excerpts of the semantic search and the search of files in one order.

    The scores of the former are probabilities, and so are those that are returned: the best of all
    is as likely relevant as the best of them.
    """
    likely = max((p.score for p in semantic), default=1.0) or 1.0
    ours = [replace(p, score=p.score / likely * SEMANTIC_WEIGHT) for p in semantic]
    theirs = [replace(p, score=p.score * p.confidence * (1 - SEMANTIC_WEIGHT)) for p in initial]
    by_place = {(p.file, p.start_line, p.end_line): p for p in ours}
    others = []
    for excerpt in theirs:
        place = (excerpt.file, excerpt.start_line, excerpt.end_line)
        known = by_place.get(place)
        if known is None:
            others.append(excerpt)
        else:
            by_place[place] = replace(
                known,
                score=known.score + excerpt.score,
                confidence=max(known.confidence, excerpt.confidence),
                found_by=tuple(dict.fromkeys((*known.found_by, *excerpt.found_by))),
            )
    merged = merge([*by_place.values(), *others])
    if not semantic:
        return merged
    best = max(p.score for p in merged) or 1.0
    return [replace(p, score=likely * p.score / best) for p in merged]


def sort_key(excerpt: Excerpt) -> tuple[float, float, str, int]:
    """Sort by score, then confidence, then place, so that the order is always the same."""
    return -excerpt.score, -excerpt.confidence, excerpt.file, excerpt.start_line


def _combine(one: Excerpt, other: Excerpt) -> Excerpt:
    best, second = sorted((one, other), key=sort_key)
    return replace(
        best,
        score=min(1.0, best.score + AGAIN),
        confidence=max(one.confidence, other.confidence),
        found_by=tuple(dict.fromkeys((*best.found_by, *second.found_by))),
    )


def _join_windows(windows: list[Excerpt]) -> list[Excerpt]:
    """Return the windows of a file, those that overlap or touch joined into one."""
    found: list[Excerpt] = []
    for excerpt in sorted(windows, key=lambda p: (p.start_line, p.end_line)):
        if found and excerpt.start_line <= found[-1].end_line + 1:
            found[-1] = _join_two(found[-1], excerpt)
        else:
            found.append(excerpt)
    return found


def _join_two(first: Excerpt, second: Excerpt) -> Excerpt:
    """Join two windows; the second begins inside the first or right after it."""
    end = max(first.end_line, second.end_line)
    known = first.end_line - second.start_line + 1
    rest = second.text.split("\n")[known:] if second.end_line > first.end_line else []
    return replace(
        _combine(first, second),
        start_line=first.start_line,
        end_line=end,
        name=f"lines {first.start_line} to {end}",
        text="\n".join([first.text, *rest]),
    )


def _is_inside(excerpt: Excerpt, scopes: Iterable[Excerpt]) -> bool:
    """Tell whether another scope of the file contains this one word for word."""
    return any(
        other is not excerpt
        and other.start_line <= excerpt.start_line
        and excerpt.end_line <= other.end_line
        and len(other.text) > len(excerpt.text)
        and excerpt.text in other.text
        for other in scopes
    )


def _is_covered(window: Excerpt, scopes: Iterable[Excerpt]) -> bool:
    """Tell whether scopes of its file contain at least half of a window."""
    lines = set(range(window.start_line, window.end_line + 1))
    covered = {
        line
        for scope in scopes
        for line in lines.intersection(range(scope.start_line, scope.end_line + 1))
    }
    return 2 * len(covered) >= len(lines)
