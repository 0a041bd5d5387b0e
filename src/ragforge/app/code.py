"""The code of a project alone, for commands that ask no model and remember nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ragforge.adapters.stores.holders import this_process
from ragforge.app.models import open_embedder
from ragforge.app.stores import open_store
from ragforge.brain.files.limits import FileLimits
from ragforge.brain.ingestion.ingest import Ingester
from ragforge.brain.ingestion.report import OnStep
from ragforge.brain.project import Brain
from ragforge.brain.search.code import CodeFinder, CodeHit
from ragforge.config.settings import Settings
from ragforge.memory.sessions import find_project, normalise
from ragforge.ports.embedder import Embedder
from ragforge.ports.store import Store
from ragforge.search.tokenise import WORDS


@dataclass(frozen=True, slots=True)
class Code:
    """A project's code, opened; the jobs in its store are left to others."""

    store: Store
    brain: Brain

    @property
    def project_path(self) -> Path:
        return self.brain.root


@asynccontextmanager
async def open_code(settings: Settings, cwd: Path) -> AsyncIterator[Code]:
    """Open the store of the settings and the brain of the project around a directory."""
    store = await open_store(settings)
    try:
        embedder = open_embedder(settings)
        try:
            yield Code(store, open_brain(settings, store, embedder, find_project(normalise(cwd))))
        finally:
            if embedder is not None:
                await embedder.close()
    finally:
        await store.close()


def open_brain(settings: Settings, store: Store, embedder: Embedder | None, project: Path) -> Brain:
    """Return the brain of the project at a path."""
    limits = FileLimits(settings.brain.max_file_bytes, settings.brain.max_files)
    ingester = Ingester(store.code, store.locks, this_process(), limits)

    async def link_turns(root: Path) -> None:
        from ragforge.memory.code.later import enqueue_links  # searching code needs none of it

        await enqueue_links(store, str(root))

    return Brain(project, ingester, CodeFinder(store.code, embedder, WORDS), link_turns)


async def search_code(
    brain: Brain,
    question: str,
    limit: int,
    under: str | None = None,
    on_step: OnStep = lambda _: None,
) -> list[CodeHit]:
    """Return the code of a project that bears on the question; `under` is a path in it.

    A project that is not known yet is ingested first, which tells its steps.
    """
    if not await brain.is_known():
        await brain.ingest(on_step)
    return await brain.search(question, limit, under)


async def search_documents(
    brain: Brain,
    question: str,
    limit: int,
    under: str | None = None,
    on_step: OnStep = lambda _: None,
) -> list[CodeHit]:
    """Return the sections of a project's documents that bear on the question, as `search_code`."""
    if not await brain.is_known():
        await brain.ingest(on_step)
    return await brain.search_documents(question, brain.root / (under or ""), limit)
