"""Work: durable jobs, and locks that end with their holder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Literal, TypeAlias

from ragforge.domain.instants import now
from ragforge.domain.text import Json, new_id
from ragforge.records import dataclass

FURTHEST_MS = 24 * 60 * 60 * 1000
"""The maximum delay: a job with a longer one was written with a wrong clock, and is due."""

JobStatus: TypeAlias = Literal["pending", "running", "done", "dead"]


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds a lease. Its start distinguishes it from a later one with its pid."""

    host: str  # and, after a space, its boot
    pid: int
    started: float  # seconds after that boot, or after 1970 where the boot is not known
    token: str = field(default_factory=new_id)

    @property
    def machine(self) -> str:
        """The name of the host."""
        return self.host.partition(" ")[0]


@dataclass(frozen=True, slots=True)
class NewJob:
    """Work to do. Two jobs with the same key are one job."""

    key: str
    kind: str
    payload: Json = None
    run_after: datetime | None = None
    machine: str | None = None  # the only one where it can be done; None: any


@dataclass(frozen=True, slots=True)
class Job:
    """A job in the queue."""

    key: str
    kind: str
    payload: Json
    status: JobStatus
    attempts: int
    run_after: datetime
    created_at: datetime
    error: str | None = None
    owner: str | None = None  # the key of the author whose model and key it uses; None: any
    machine: str | None = None


def finish(job: Job) -> Job:
    """Return a job that is done."""
    return replace(job, status="done")


def release(job: Job) -> Job:
    """Return an interrupted job: it waits, and this does not count as an attempt."""
    return replace(job, status="pending", attempts=job.attempts - 1)


def fail(job: Job, error: str, retry_at: datetime | None) -> Job:
    """Return a failed job: it waits until `retry_at`; without one it is a dead letter."""
    if retry_at is None:
        return replace(job, status="dead", error=error)
    return replace(job, status="pending", error=error, run_after=retry_at)


def revive(job: Job) -> Job:
    """Return a dead letter as a job that is due now, with no attempts; any other unchanged."""
    if job.status != "dead":
        return job
    return replace(job, status="pending", attempts=0, run_after=now())


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs to find."""

    status: JobStatus | None = None


@dataclass(frozen=True, slots=True)
class JobCounts:
    """How many jobs there are."""

    by_status: Mapping[JobStatus, int]
    of_others: Mapping[str, int]  # that wait or run and only other authors do, by the author's key


@dataclass(frozen=True, slots=True)
class Lock:
    """A named lock and its holder."""

    name: str
    holder: Holder
    acquired_at: datetime
    expires_at: datetime
