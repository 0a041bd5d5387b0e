"""Progress: which process ingests or embeds a project, how far it is, and what it did."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from ragforge.domain.code import File, FileMark, Project
from ragforge.domain.text import new_id
from ragforge.domain.work import Holder
from ragforge.errors import StoreError
from ragforge.ports.store import LockStore
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.brain.files.compare import Difference
    from ragforge.brain.files.walk import SkippedFile
    from ragforge.brain.ingestion.exact_index import ExactIndex

LEASE = timedelta(seconds=30)
POLL_SECONDS = 0.2


def name_ingestion_lock(project_id: str) -> str:
    return f"ingestion:{project_id}"


def name_embedding_lock(project_id: str) -> str:
    return f"embedding:{project_id}"


@asynccontextmanager
async def hold_lock(
    locks: LockStore, name: str, holder: Holder, on_step: OnStep = lambda _: None
) -> AsyncIterator[None]:
    """Wait for a lock and hold it. It is released if this process dies."""
    holder = replace(holder, token=new_id())  # two tasks of one process are two holders
    while not await locks.acquire(name, holder, LEASE):
        on_step(IngestionStep("waiting"))
        await asyncio.sleep(POLL_SECONDS)
    renewing = asyncio.create_task(_renew(locks, name, holder))
    try:
        yield
    finally:
        renewing.cancel()
        with suppress(asyncio.CancelledError):
            await renewing
        with suppress(StoreError):  # its lease ends anyway
            await locks.release(name, holder)


async def _renew(locks: LockStore, name: str, holder: Holder) -> None:
    while True:
        await asyncio.sleep(LEASE.total_seconds() / 3)
        with suppress(StoreError):
            await locks.acquire(name, holder, LEASE)


@dataclass(frozen=True, slots=True)
class IngestionStep:
    """How far an ingestion has come."""

    phase: str  # "waiting", "copying", "reading", "relating", "embedding"
    done: int = 0
    total: int = 0
    scopes: int = 0


@dataclass(frozen=True, slots=True)
class IngestionReport:
    """What an ingestion did."""

    project_id: str
    files: int  # that the project has now
    read: int = 0  # that were new or changed
    removed: int = 0
    scopes: int = 0  # in the files that were read
    related: int = 0  # files whose relations were made again
    skipped: tuple[SkippedFile, ...] = ()
    copied: int = 0  # files that another checkout of the project had
    exact: ExactIndex | None = None  # of an exact indexer, from which relations come
    changed: tuple[str, ...] = field(default=(), compare=False)  # paths of those that were read
    before: Project | None = field(default=None, compare=False)  # as the run found it
    after: Project | None = field(default=None, compare=False)  # as the run left it

    @property
    def reasons(self) -> Mapping[str, int]:
        """Return how many files were skipped for each reason."""
        return Counter(file.reason for file in self.skipped)


@dataclass(frozen=True, slots=True)
class FoundChanges:
    """What a run found on the disk and in the store, and their difference."""

    paths: Collection[str]  # of all files
    skipped: Sequence[SkippedFile]
    known: dict[str, File]  # as stored: all of them, or those that were named
    difference: Difference
    marks: Mapping[str, FileMark] | None = None  # of all files, if only some were compared
    copied: int = 0  # files that another checkout of the project had
    exact: ExactIndex | None = None  # of an exact indexer, from which relations come


OnStep: TypeAlias = Callable[[IngestionStep], None]
