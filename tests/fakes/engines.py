"""Engines: opening, emptying and closing real stores for tests."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.domain.kinds import Redactor
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store, list_record_kinds

if TYPE_CHECKING:
    import neo4j


class Engines:
    """The engines a test can use. One data set each; everything opened here is closed."""

    def __init__(self, folder: Path, neo4j_url: Callable[[], str]) -> None:
        self._folder = folder
        self._neo4j_url = neo4j_url
        self._generation = 0
        self._opened: list[Store] = []

    async def empty(self, engine: str) -> Store:
        """Drop what the engine holds and open it."""
        self._generation += 1
        if engine == "neo4j":
            await empty_neo4j(self._neo4j_url())
        else:
            shutil.copyfile(_new_sqlite_file(), self.location(engine))
        return await self.open(engine)

    async def open(self, engine: str, viewer: str | None = None) -> Store:
        """Open the engine's data once more, as another process would; for an author, or all."""
        return await self.open_at(self.location(engine), viewer)

    async def open_at(
        self, location: str, viewer: str | None = None, redactor: Redactor = REDACTOR
    ) -> Store:
        """Open the store at a path or URL."""
        from ragforge.search.words.tokenise import WORDS

        if location.startswith("bolt://"):
            from ragforge.adapters.stores.neo4j.store import open_neo4j

            store = await open_neo4j(location, WORDS, redactor, viewer=viewer)
        else:
            from ragforge.adapters.stores.sqlite.store import open_sqlite

            store = await open_sqlite(location, WORDS, redactor, viewer)
        self._opened.append(store)
        return store

    def location(self, engine: str) -> str:
        """Return what RAGFORGE_STORE must be to open the engine's data."""
        if engine == "neo4j":
            return self._neo4j_url()
        return str(self._folder / f"store-{self._generation}.db")

    async def close(self) -> None:
        while self._opened:
            await self._opened.pop().close()


@cache
def _new_sqlite_file() -> Path:
    """Return an empty store to copy: creating one takes longer."""
    from ragforge.adapters.stores.sqlite.migrate import prepare
    from ragforge.search.words.tokenise import WORDS

    folder = tempfile.TemporaryDirectory(prefix="ragforge-template-")
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "store.db"
    prepare(path, WORDS)
    return path


async def counts(store: Store) -> dict[str, int]:
    """Return how many records there are of each kind: what a failed write must not change."""
    return {kind: await store.archive.count(kind) for kind in list_record_kinds()}


async def empty_neo4j(url: str) -> None:
    """Delete everything on a server but its schema."""
    _connect_to_neo4j(url).execute_query("MATCH (n) WHERE NOT n:RagForgeSchema DETACH DELETE n")


@cache
def _connect_to_neo4j(url: str) -> neo4j.Driver:
    """Return a connection that stays: each test has an event loop, and this one needs none."""
    from neo4j import GraphDatabase

    driver = GraphDatabase.driver(url)
    atexit.register(driver.close)
    return driver
