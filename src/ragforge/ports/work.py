"""Work: the queue of jobs, locks and upkeep."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from ragforge.domain.work import Holder, Job, JobCounts, Lock, NewJob
from ragforge.records import dataclass


class JobQueue(Protocol):
    """Durable jobs. A lease that has expired, or whose process is dead, can be taken.

    An expired lease that was not taken is still its holder's. `Records` finds jobs, and
    updates those without a holder.
    """

    async def enqueue(self, jobs: Sequence[NewJob], again: bool = False) -> int:
        """Add jobs and return how many are new; a known key in any status is not new.

        They are the viewer's: no other user's worker takes them.

        With `again`, a job that is done or dead is restarted with no attempts, and counts.
        """

    async def claim(
        self, holder: Holder, lease: timedelta, kinds: Sequence[str] | None = None
    ) -> Job | None:
        """Take the job that has been due longest, or return None. Counts as an attempt.

        It is the viewer's, or one of an older store without an owner, and can be done on the
        holder's machine.
        """

    async def heartbeat(self, key: str, holder: Holder, lease: timedelta) -> None:
        """Extend a lease. Raises LeaseLost."""

    async def settle(self, job: Job, holder: Holder) -> None:
        """End a lease with the status, attempts, error and date that the job has now.

        `finish`, `release` and `fail` (`domain/work.py`) change a claimed job. Raises LeaseLost.
        """

    async def count(self) -> JobCounts:
        """Count the jobs of the viewer, or without an owner, by status; and those of others."""


class LockStore(Protocol):
    """Named locks for all processes, free once their holder is dead or their lease expired."""

    async def acquire(self, name: str, holder: Holder, ttl: timedelta) -> bool:
        """Take or renew a lock; False if another holder has it."""

    async def release(self, name: str, holder: Holder) -> None:
        """Release a lock; not holding it does nothing."""

    async def held(self, names: Sequence[str]) -> dict[str, Lock]:
        """Return the locks that are held now, by name."""


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """How many texts have the words of the new tokeniser; the others keep old ones until then."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """The size of a file before and after, in bytes, with its log."""

    before: int
    after: int
    is_delayed: bool = False  # the file gets smaller once those who read it now are done

    @property
    def given_back(self) -> int:
        return max(self.before - self.after, 0)


class Upkeep(Protocol):
    """Keeps a store small and its words current, in any number of processes at once."""

    async def step(self) -> bool:
        """Do a small piece of what is due; return whether more may be due.

        No writer waits longer than for another write. What a killed process did stays
        done. A store that can only be read has nothing due.
        """

    async def reindexing(self) -> ReindexProgress | None:
        """Return the progress of reindexing; None if the words are those of the tokeniser."""
