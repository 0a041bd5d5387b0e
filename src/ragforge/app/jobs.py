"""Jobs: what is still to be done in the background, and what failed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from ragforge.domain.authors import Identity
from ragforge.domain.work import Job, JobStatus
from ragforge.jobs.worker import POLL_SECONDS
from ragforge.ports.work import JobQueue
from ragforge.records import dataclass

INGEST_JOB = "ingest"
"""The kind of ingestions that earlier versions queued; now it names the project too."""
KEEP_JOB = "keep-originals"
"""The kind of jobs that keep transcripts of other agents."""
UNFINISHED: tuple[JobStatus, ...] = ("running", "pending", "dead")
WAITING: tuple[JobStatus, ...] = ("pending", "running")
MOST_JOBS = 100_000


@dataclass(frozen=True, slots=True)
class Jobs:
    """The queue of one store."""

    queue: JobQueue
    project_id: str
    identity: Identity

    async def find(self, limit: int, statuses: Sequence[JobStatus] = UNFINISHED) -> list[Job]:
        """Return jobs in the order of the given statuses."""
        found = [job for status in statuses for job in await self.queue.find(status, limit)]
        return found[:limit]

    async def count(self) -> Mapping[JobStatus, int]:
        """Return how many jobs there are of each status."""
        return await self.queue.counts()

    async def count_of_others(self) -> Mapping[str, int]:
        """Return how many jobs wait for other authors, who alone do them, by their keys."""
        return await self.queue.waiting_of_others()

    async def count_waiting(self) -> int:
        """Return how many jobs are still to be done here."""
        counts = await self._count_own()
        return counts["pending"] + counts["running"]

    async def retry_failed(self) -> int:
        """Queue every job again that failed for good; return how many there were."""
        dead = await self.find(MOST_JOBS, ["dead"])
        for job in dead:
            await self.queue.revive(job.key)
        return len(dead)

    async def wait(self, seconds: float) -> Mapping[JobStatus, int]:
        """Wait while the application's worker does the queued jobs; return the counts.

        Jobs that wait for another try, or run in other processes, are waited for as well, but
        not ingestions of other projects or machines: those are done where these are open.
        """
        ends = time.monotonic() + seconds
        counts = await self._count_own()
        while counts["pending"] + counts["running"] and time.monotonic() < ends:
            await asyncio.sleep(POLL_SECONDS / 4)
            counts = await self._count_own()
        return counts

    async def _count_own(self) -> Mapping[JobStatus, int]:
        """Return the counts without ingestions of other projects and machines that wait."""
        counts = dict(await self.count())
        own = name_ingest_kind(self.project_id)
        for status in WAITING:
            if counts[status]:
                found = await self.queue.find(status, MOST_JOBS)
                ingestions = [job for job in found if job.kind.startswith(f"{INGEST_JOB}:")]
                counts[status] -= sum(not self._is_done_here(job, own) for job in ingestions)
        return counts

    def _is_done_here(self, job: Job, own: str) -> bool:
        return job.kind == own and job.machine in (None, self.identity.host)


def name_ingest_kind(project_id: str) -> str:
    """Return the kind of a project's ingestions: only a process that has it open does them."""
    return f"{INGEST_JOB}:{project_id}"
