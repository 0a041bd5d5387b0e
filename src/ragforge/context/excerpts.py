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

    @classmethod
    def of_scope(
        cls,
        scope: Scope,
        score: float,
        confidence: float,
        found_by: tuple[str, ...],
        fetched_at: datetime | None = None,
    ) -> Excerpt:
        """Return an excerpt of a whole scope."""
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
        )

    @property
    def place(self) -> str:
        return f"{self.file}:{self.start_line}-{self.end_line}"
