"""Upkeep: work on a store itself, done in pieces beside everything else."""

from __future__ import annotations

from typing import Protocol

from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """How many texts have the words of the new tokeniser; the others are found by old ones."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """How large a file was and is, in bytes, with the log beside it."""

    before: int
    after: int
    is_delayed: bool = False  # the file gets smaller once those who read it now are done

    @property
    def given_back(self) -> int:
        return max(self.before - self.after, 0)


class Upkeep(Protocol):
    """Keeps a store small and its words current. Any number of processes may do it at once."""

    async def step(self) -> bool:
        """Do a piece of what is due, which takes a moment; return whether more may be due.

        Nobody who writes waits longer than for another write. What a killed process did stays
        done. A store that can only be read has nothing due.
        """

    async def reindexing(self) -> ReindexProgress | None:
        """Return how far the words are indexed anew; None if they are those of the tokeniser."""
