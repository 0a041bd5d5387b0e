"""Status: what is stored of a project, what has changed since, and the rest of a first reading."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.brain.files.compare import PARSED, compare, count_changed, quick_check
from ragforge.brain.files.walk import FoundFile, walk
from ragforge.brain.ingestion import progress
from ragforge.brain.ingestion.embed import format_embedded_state
from ragforge.brain.ingestion.ingest import Ingester
from ragforge.domain.code import FileFilter, Reading, ScopeFilter
from ragforge.domain.schema import FILE, SCOPE
from ragforge.domain.work import Lock
from ragforge.ports.search_index import CountWords
from ragforge.ports.store import ReindexProgress
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.brain.search.unread import Unread

LARGE = 5_000
"""In a project of this many files, only the newest ones are compared."""
NEWEST = 1_000
FEW = 100
"""Up to this many files, contents are compared to find changes."""
SAME_WALK_SECONDS = 30.0
"""Questions that follow each other within this time share one walk through the files."""


@dataclass(frozen=True, slots=True)
class ProjectStatus:
    """The state of a project in the store, and what is still to be done."""

    path: str
    known: bool
    files: int = 0
    scopes: int = 0
    changed_files: int = 0  # new, changed or removed since the last ingestion
    unrelated_files: int = 0
    unembedded_scopes: int = 0
    files_compared: int = 0  # by size and time; of a large project not all, unless asked for
    model: str | None = None
    ingesting: str | None = None  # the process that does it now
    embedding: str | None = None
    project_id: str = ""  # of the repository, which may have other checkouts
    remotes: tuple[str, ...] = ()
    checkouts: tuple[str, ...] = ()  # `host:path`
    reading: Reading | None = None  # how far the first reading is, until it is finished
    reindexing: ReindexProgress | None = None  # of the store's words, after the tokeniser changed

    @property
    def is_fresh(self) -> bool:
        pending = self.changed_files or self.unrelated_files or self.unembedded_scopes
        return self.known and not pending


async def read_status(
    ingester: Ingester, root: Path, project_id: str, model: str | None, thorough: bool
) -> ProjectStatus:
    """Compare the store with the files; if only a few seem changed, by their contents too.

    Of a large project only the names and the newest files are compared, if not `thorough`.
    """
    store = ingester.store
    project = await ingester.find_project(project_id)
    if project is None:
        return ProjectStatus(str(root), known=False)
    paths = await store.code.file_paths(project_id)
    if thorough or len(paths) < LARGE:
        changed, compared = await _count_changed(ingester, root, project_id), len(paths)
    else:
        changed, compared = await _check_quickly(ingester, root, project_id, paths), NEWEST
    embedded = model is None or project.state == format_embedded_state(model)
    missing, scopes = await store.index.count_pending(
        SCOPE, None if embedded else model, ScopeFilter(project_id)
    )
    unrelated = await store.records.find(FILE, FileFilter(project_id, state=PARSED))
    ingestion = progress.name_ingestion_lock(project_id)
    embedding = progress.name_embedding_lock(project_id)
    held = await store.locks.held((ingestion, embedding))
    return ProjectStatus(
        str(root),
        known=True,
        files=len(paths),
        scopes=scopes,
        changed_files=changed,
        unrelated_files=len(unrelated),
        unembedded_scopes=missing,
        files_compared=compared,
        model=model,
        ingesting=_describe_holder(held.get(ingestion)),
        embedding=_describe_holder(held.get(embedding)),
    )


async def _count_changed(ingester: Ingester, root: Path, project_id: str) -> int:
    """Return how many files came, went or changed, by comparing all of them."""
    stored = await ingester.store.records.find(FILE, FileFilter(project_id))
    files = {file.path: file for file in stored}
    walked = await asyncio.to_thread(walk, root, ingester.limits)
    difference = compare(walked.files, files)
    suspects = len(difference.suspects)
    if suspects <= FEW:
        suspects = await asyncio.to_thread(count_changed, root, difference.suspects, files)
    return suspects + len(difference.gone)


async def _check_quickly(
    ingester: Ingester, root: Path, project_id: str, known: Collection[str]
) -> int:
    """Return how many files seem to have come, gone or changed."""
    newest = await ingester.store.records.find(
        FILE, FileFilter(project_id), NEWEST, order=("-mtime", "path")
    )
    return await asyncio.to_thread(quick_check, root, known, newest, ingester.limits)


def _describe_holder(lock: Lock | None) -> str | None:
    return None if lock is None else f"{lock.holder.machine}, process {lock.holder.pid}"


@dataclass(slots=True)
class FirstReading:
    """The first reading of a project, which questions do not wait for."""

    root: Path
    project_id: str
    ingester: Ingester
    count_words: CountWords | None = None  # in unread files; None: only their paths count
    list_recent: Callable[[], Awaitable[Sequence[str]]] | None = None  # the newest first
    _files: tuple[FoundFile, ...] = ()
    _walked_at: float = -inf

    async def is_unfinished(self) -> bool:
        """Tell whether the reading began, and some files were never read."""
        project = await self.ingester.find_project(self.project_id)
        return project is not None and not project.is_whole and not project.is_former

    async def find_unread(self) -> Unread | None:
        """Return what is left to read, None if the reading is finished.

        Also None before it begins: until then no file may be read.
        """
        if not await self.is_unfinished():
            return None
        from ragforge.brain.search.unread import Unread  # it loads the parsers

        files, read = await asyncio.gather(
            asyncio.to_thread(self._list_files),
            self.ingester.store.code.file_paths(self.project_id),
        )
        return Unread(
            self.root,
            self.project_id,
            files,
            frozenset(read),
            self.count_words,
            self.ingester.redactor,
            self.ingester.find_wanted(self.project_id),
        )

    async def list_recent_files(self) -> Sequence[str]:
        """Return the files that changed lately, the newest first; none after the first reading."""
        if self.list_recent is None or not await self.is_unfinished():
            return ()
        return await self.list_recent()

    def _list_files(self) -> tuple[FoundFile, ...]:
        from ragforge.brain.files.walk import walk

        if time.monotonic() > self._walked_at + SAME_WALK_SECONDS:
            try:
                self._files = walk(self.root, self.ingester.limits).files
            except OSError:  # the folder is gone; the ingestion reports it
                self._files = ()
            self._walked_at = time.monotonic()
        return self._files
