"""Status: what is stored of a project, and what has changed since."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.brain.files.compare import PARSED, compare, count_changed, quick_check
from ragforge.brain.files.walk import walk
from ragforge.brain.ingestion import progress
from ragforge.brain.ingestion.embed import format_embedded_state
from ragforge.brain.ingestion.ingest import Ingester
from ragforge.domain.code import FileFilter, ScopeFilter
from ragforge.domain.schema import FILE, SCOPE
from ragforge.domain.work import Lock
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.domain.code import Reading
    from ragforge.ports.work import ReindexProgress

LARGE = 5_000
"""In a project of this many files, only the newest ones are compared."""
NEWEST = 1_000
FEW = 100
"""Up to this many files, contents are compared to find changes."""


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
