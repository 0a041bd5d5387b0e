"""Excerpts: parts of files that are relevant to a question."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from ragforge.domain.code import Scope
from ragforge.records import dataclass

Source: TypeAlias = Literal["semantic", "grep", "command", "fuzzy"]
"""The search that found something."""


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
