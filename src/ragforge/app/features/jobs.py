"""Jobs: the background work that is queued, running or failed, and the reading of a project."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from ragforge.app.wiring.brain import INGEST_JOB, name_ingest_kind
from ragforge.app.wiring.remaining_work import start_detached_reading
from ragforge.app.wiring.trust import FolderTrust
from ragforge.brain.ingestion.progress import OnStep
from ragforge.brain.project import Brain
from ragforge.config.settings import Settings
from ragforge.domain.code import Reading
from ragforge.domain.conversations import Identity
from ragforge.domain.instants import now
from ragforge.domain.schema import JOB
from ragforge.domain.text import Json, new_id
from ragforge.domain.work import Job, JobCounts, JobFilter, JobStatus, NewJob, revive
from ragforge.errors import RagForgeError
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


log = logging.getLogger(__name__)

FEW_FILES = 200
"""Up to this many are read before the first answer: that takes about a second."""
SETTLE_SECONDS = 0.05
STARTING_SECONDS = 60.0
"""A process that was started this recently may not hold its lock yet."""


@dataclass(slots=True)
class AutomaticReading:
    """Reads a project without a command, as far as the settings and the user allow it."""

    brain: Brain
    jobs: Jobs
    settings: Settings
    trust: FolderTrust
    detaches: bool = False  # this program may leave work to a separate process
    _process_started: float = -inf

    @property
    def is_wanted(self) -> bool:
        return self.settings.brain.ingest_automatically and self.trust.reads

    async def begin(self, on_step: OnStep = lambda _: None) -> Reading | None:
        """Read a project for the first time; return what is left to read, None if nothing is.

        A small project is read at once, for a few seconds at most; a large one by a separate
        process, if this program may start one. What was read before is not read again.
        """
        if not self.is_wanted:
            return None
        try:
            await self.brain.begin()
            reading = await self.find_reading()
            if reading is None or (reading.left > FEW_FILES and await self._is_done_elsewhere()):
                return reading
            from ragforge.app.features.extras import describe_missing_grammars  # slow to load

            async with asyncio.timeout(self.settings.brain.first_reading_seconds):
                report, _ = await self.brain.ingest(on_step)
                await self._wait_until_settled()
            if missing := describe_missing_grammars(report.skipped):
                log.warning("%s", missing)
        except TimeoutError:
            await self.queue()
            return await self.find_reading()
        except (OSError, RagForgeError) as error:  # a question is answered without the code too
            log.warning("The project is not read: %s", error)
        return None

    async def find_reading(self) -> Reading | None:
        """Return how far the first reading is, None if it is finished or the folder is not read."""
        unread = await self.brain.first_reading.find_unread() if self.trust.reads else None
        return None if unread is None else unread.reading

    async def queue(self, files: Sequence[str] = ()) -> bool:
        """Queue an ingestion, at most once a minute; tell whether the project is kept current.

        With `files`, relative to the project, only those are read, at any time.
        """
        if not self.is_wanted:
            return False
        if await self.brain.first_reading.is_unfinished() and await self._is_done_elsewhere():
            return True
        kind = name_ingest_kind(self.brain.project_id)
        who = self.jobs.identity  # no other user and machine has this checkout
        when = new_id() if files else int(now().timestamp()) // 60
        root = str(self.brain.root)
        payload: Json = {"root": root, "files": list(files)} if files else root
        job = NewJob(f"{kind}:{who.key}:{who.host}:{when}", kind, payload, machine=who.host)
        await self.jobs.store.jobs.enqueue([job])
        return True

    async def _is_done_elsewhere(self) -> bool:
        """Have a separate process read the project; return False if that is not allowed.

        That process reads only what the user allowed permanently, not what this program allowed.
        """
        if not self.detaches or not replace(self.trust, by_program=False).reads:
            return False
        is_starting = time.monotonic() < self._process_started + STARTING_SECONDS
        if not is_starting and not await self.brain.is_being_read():
            self._process_started = time.monotonic()
            start_detached_reading(self.settings, self.brain.root)
        return True

    async def _wait_until_settled(self) -> None:
        """Wait while another process reads or embeds the project."""
        settled = await self.brain.is_settled()
        while not settled:
            await asyncio.sleep(SETTLE_SECONDS)
            settled = await self.brain.is_settled()
