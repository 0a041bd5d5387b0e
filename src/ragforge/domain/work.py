"""Work: durable jobs, and locks that end with their holder."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import Literal, TypeAlias

from ragforge.domain.text import Json, new_id
from ragforge.records import dataclass

FURTHEST_MS = 24 * 60 * 60 * 1000
"""No job is put off so far: one that is was written while the clock was wrong, and is due."""

JobStatus: TypeAlias = Literal["pending", "running", "done", "dead"]


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds a lease. The start tells it from a later one with its pid."""

    host: str  # and, after a space, its boot
    pid: int
    started: float  # seconds after that boot, or after 1970 where the boot is not known
    token: str = field(default_factory=new_id)

    @property
    def machine(self) -> str:
        """The name of the host alone."""
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
    owner: str | None = None  # the key of the author whose model and key it uses; None: anybody
    machine: str | None = None


@dataclass(frozen=True, slots=True)
class Lock:
    """A named lock that somebody holds."""

    name: str
    holder: Holder
    acquired_at: datetime
    expires_at: datetime
