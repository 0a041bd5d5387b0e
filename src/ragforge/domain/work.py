"""Work: jobs that survive crashes, locks that survive nobody."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from ragforge.domain.text import Json, new_id

JobStatus: TypeAlias = Literal["pending", "running", "done", "dead"]


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds a lease. Start time tells it from a later one with its pid."""

    host: str
    pid: int
    started: float
    token: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class NewJob:
    """Work to do. Two jobs with one key are one job."""

    key: str
    kind: str
    payload: Json = None
    run_after: datetime | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """Work as the queue knows it."""

    key: str
    kind: str
    payload: Json
    status: JobStatus
    attempts: int
    run_after: datetime
    created_at: datetime
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Lock:
    """A named lock that somebody holds."""

    name: str
    holder: Holder
    acquired_at: datetime
    expires_at: datetime
