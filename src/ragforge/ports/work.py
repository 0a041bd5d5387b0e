"""Where work and its locks live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from ragforge.domain.work import Holder, Job, JobStatus, Lock, NewJob


class JobQueue(Protocol):
    """Durable jobs. A lease whose time is up, or whose process is dead, is free to take.

    A lease that ran out and that nobody took is still its holder's.
    """

    async def enqueue(self, jobs: Sequence[NewJob], again: bool = False) -> int:
        """Add jobs and return how many are new; a key that is known in any status is not.

        They are the viewer's: nobody else's worker takes them.

        With `again`, a job that is done or dead starts anew, with no attempts, and counts.
        """

    async def claim(
        self, holder: Holder, lease: timedelta, kinds: Sequence[str] | None = None
    ) -> Job | None:
        """Take the job that has been due the longest, or None. Counts as an attempt.

        It is the viewer's, or one of an older store that is nobody's, and can be done on the
        holder's machine.
        """

    async def heartbeat(self, key: str, holder: Holder, lease: timedelta) -> None:
        """Prolong a lease. Raises LeaseLost."""

    async def release(self, key: str, holder: Holder) -> None:
        """Put a job back that was only begun; it does not count as an attempt. Raises LeaseLost."""

    async def finish(self, key: str, holder: Holder) -> None:
        """Mark a job done. Raises LeaseLost."""

    async def fail(self, key: str, holder: Holder, error: str, retry_at: datetime | None) -> None:
        """Put a job back until `retry_at`; None makes it a dead letter. Raises LeaseLost."""

    async def revive(self, key: str) -> None:
        """Make a dead letter pending again, with no attempts; any other job stays.

        Raises JobNotFound.
        """

    async def get(self, key: str) -> Job:
        """Raises JobNotFound, also for a job of somebody else's."""

    async def existing(self, keys: Sequence[str]) -> set[str]:
        """Return the keys that jobs of the viewer's or of nobody's have, in whatever status."""

    async def find(self, status: JobStatus | None = None, limit: int = 100) -> list[Job]:
        """Return jobs of the viewer's and of nobody's, oldest first."""

    async def counts(self) -> Mapping[JobStatus, int]:
        """Return how many of these jobs there are in each status."""

    async def waiting_of_others(self) -> Mapping[str, int]:
        """Return how many jobs wait or run that only other authors do, by the author's key."""


class LockStore(Protocol):
    """Named locks, visible to all processes, free once their holder is dead or late."""

    async def acquire(self, name: str, holder: Holder, ttl: timedelta) -> bool:
        """Take or renew a lock; False if another holder has it."""

    async def release(self, name: str, holder: Holder) -> None:
        """Give a lock back; not holding it does nothing."""

    async def is_any_held(self, names: Sequence[str]) -> bool:
        """Tell whether somebody holds one of the locks now."""

    async def holder(self, name: str) -> Lock | None:
        """Return who holds the lock now, or None if it is free."""
