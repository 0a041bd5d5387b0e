"""Jobs: the background work that is queued, running or failed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from ragforge.app.wiring.brain import INGEST_JOB, name_ingest_kind
from ragforge.domain.conversations import Identity
from ragforge.domain.schema import JOB
from ragforge.domain.work import Job, JobCounts, JobFilter, JobStatus, revive
from ragforge.jobs.worker import POLL_SECONDS
from ragforge.ports.store import Store
from ragforge.records import dataclass

UNFINISHED: tuple[JobStatus, ...] = ("running", "pending", "dead")
WAITING: tuple[JobStatus, ...] = ("pending", "running")
MAX_JOBS = 100_000


@dataclass(frozen=True, slots=True)
class Jobs:
    """The queue of one store."""

    store: Store
    project_id: str
    identity: Identity

    async def find(self, limit: int, statuses: Sequence[JobStatus] = UNFINISHED) -> list[Job]:
        """Return jobs in the order of the given statuses."""
        found = [job for status in statuses for job in await self._find(status, limit)]
        return found[:limit]

    async def _find(self, status: JobStatus, limit: int) -> list[Job]:
        return await self.store.records.find(JOB, JobFilter(status), limit)

    async def count(self) -> JobCounts:
        """Return how many jobs there are of each status, and how many only other authors do."""
        return await self.store.jobs.count()

    async def count_waiting(self) -> int:
        """Return how many jobs are still to be done here."""
        counts = await self._count_own()
        return counts["pending"] + counts["running"]

    async def retry_failed(self) -> int:
        """Queue every job again that failed for good; return how many there were."""
        dead = await self.find(MAX_JOBS, ["dead"])
        for job in dead:
            await self.store.records.update(JOB, job.key, revive)
        return len(dead)

    async def wait(self, seconds: float) -> Mapping[JobStatus, int]:
        """Wait while the application's worker does the queued jobs; return the counts.

        Retries and jobs of other processes count, but not ingestions of other projects or machines.
        """
        ends = time.monotonic() + seconds
        counts = await self._count_own()
        while counts["pending"] + counts["running"] and time.monotonic() < ends:
            await asyncio.sleep(POLL_SECONDS / 4)
            counts = await self._count_own()
        return counts

    async def _count_own(self) -> Mapping[JobStatus, int]:
        """Return the counts without ingestions of other projects and machines that wait."""
        counts = dict((await self.count()).by_status)
        own = name_ingest_kind(self.project_id)
        for status in WAITING:
            if counts[status]:
                found = await self._find(status, MAX_JOBS)
                counts[status] -= sum(
                    job.kind != own or job.machine not in (None, self.identity.host)
                    for job in found
                    if job.kind.startswith(f"{INGEST_JOB}:")
                )
        return counts
