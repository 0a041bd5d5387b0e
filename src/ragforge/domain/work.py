"""Work: durable jobs, and locks that end with their holder."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from ragforge.domain.text import Json, new_id

JobStatus: TypeAlias = Literal["pending", "running", "done", "dead"]


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds a lease. The start time tells it from a later one with its pid."""

    host: str
    pid: int
    started: float
    token: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class NewJob:
    """Work to do. Two jobs with the same key are one job."""

    key: str
    kind: str
    payload: Json = None
    run_after: datetime | None = None


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


@dataclass(frozen=True, slots=True)
class Lock:
    """A named lock that somebody holds."""

    name: str
    holder: Holder
    acquired_at: datetime
    expires_at: datetime
