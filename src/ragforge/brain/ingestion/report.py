"""Report: how far an ingestion has come, and what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from ragforge.domain.code import Project
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.brain.files.walk import Skipped


@dataclass(frozen=True, slots=True)
class IngestionStep:
    """How far an ingestion has come."""

    phase: str  # "waiting", "copying", "reading", "relating", "embedding"
    done: int = 0
    total: int = 0
    scopes: int = 0


@dataclass(frozen=True, slots=True)
class IngestionReport:
    """What an ingestion did."""

    project_id: str
    files: int  # that the project has now
    read: int  # that were new or changed
    removed: int
    scopes: int  # in the files that were read
    related: int  # files whose relations were made anew
    skipped: tuple[Skipped, ...] = ()
    copied: int = 0  # files that another checkout of the project had
    changed: tuple[str, ...] = field(default=(), compare=False)  # paths of those that were read
    before: Project | None = field(default=None, compare=False)  # as the run found it
    after: Project | None = field(default=None, compare=False)  # as the run left it

    @property
    def reasons(self) -> Mapping[str, int]:
        """Return how many files were skipped for each reason."""
        return Counter(file.reason for file in self.skipped)


OnStep: TypeAlias = Callable[[IngestionStep], None]
