"""Pieces: places in files that bear on a question, and the text that stands there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ragforge.domain.code import Scope

Source: TypeAlias = Literal["semantic", "grep", "command", "fuzzy"]
"""The search that found something."""


@dataclass(frozen=True, slots=True)
class Location:
    """A line that a search tool found, before anything is read around it."""

    file: str
    line: int
    score: float
    confidence: float
    arm: Source


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a file, as they go into a context."""

    file: str
    start_line: int
    end_line: int
    name: str
    text: str
    score: float
    confidence: float
    found_by: tuple[str, ...]
    is_scope: bool  # a whole scope; else a window around a line

    @classmethod
    def of_scope(
        cls, scope: Scope, score: float, confidence: float, found_by: tuple[str, ...]
    ) -> Excerpt:
        """Return a whole scope as it was found."""
        return cls(
            file=scope.file,
            start_line=scope.start_line,
            end_line=scope.end_line,
            name=scope.qualified_name,
            text=scope.source,
            score=score,
            confidence=confidence,
            found_by=found_by,
            is_scope=True,
        )

    @property
    def place(self) -> str:
        return f"{self.file}:{self.start_line}-{self.end_line}"
