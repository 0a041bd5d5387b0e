"""Opening: a store, what it knows of a project's code, or the application, on a given file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.measure import require
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.adapters.stores.holders import this_process
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.app import App, open_app
from ragforge.app.wiring.projects import recognise
from ragforge.brain.ingestion.ingest import Ingester
from ragforge.brain.project import Brain
from ragforge.brain.status import FirstReading
from ragforge.config import load_settings
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS


@asynccontextmanager
async def open_file(file: Path, author: str = "") -> AsyncIterator[Store]:
    """Open the store in a file."""
    store = await open_sqlite(file, WORDS, REDACTOR, author)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def open_code(
    file: Path, root: Path, embedder: BundledEmbedder | None, *, ingest: bool = True
) -> AsyncIterator[Brain]:
    """Open what a store knows of a project's code, after an ingestion unless it has had one.

    The project is the one that commands recognise in the folder.
    """
    async with open_file(file) as store:
        root, ingester = root.resolve(), Ingester(store, this_process())
        place = await recognise(store, root, None)
        reading = FirstReading(root, place.checkout_id, ingester)
        brain = Brain(root, ingester, place, reading, embedder)
        if ingest:
            report, _ = await brain.ingest()
            require(report.changed or await brain.is_ingested(), f"{root} has no code to read.")
        yield brain


@asynccontextmanager
async def open_project(
    root: Path, file: Path, *, ingest: bool = True, work: bool = True
) -> AsyncIterator[App]:
    """Open the application in a project, after an ingestion unless it has had one."""
    require(root.is_dir(), f"{root} is missing.")
    environ = {
        "RAGFORGE_STORE": str(file),
        "RAGFORGE_CONFIG": "",
        "RAGFORGE_AGENT__STATE_DIR": str(file.with_suffix(".state")),
        "RAGFORGE_BRAIN__INGEST_AUTOMATICALLY": "false",
    }
    async with open_app(load_settings(root, environ=environ).settings, root, work=work) as app:
        if ingest and not await app.brain.is_ingested():
            await app.brain.ingest()
        yield app
