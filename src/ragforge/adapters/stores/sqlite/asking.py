"""Asking: a SQLite store for a process that asks once, such as a hook.

It is read in the thread that asks, without an event loop. Ports that few questions need are loaded
when they are first used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from ragforge.adapters.stores.sqlite.database import SqliteDatabase, begin_reading
from ragforge.adapters.stores.sqlite.records import SqliteRecords
from ragforge.domain.kinds import STORED
from ragforge.ports.search_index import Tokeniser
from ragforge.ports.store import Health, Store

if TYPE_CHECKING:  # which of them are used is not known yet
    from ragforge.adapters.stores.sqlite.vectors import VectorSearch
    from ragforge.ports.code_graph import CodeGraph
    from ragforge.ports.search_index import SearchIndex
    from ragforge.ports.timeline import Timeline

Port = TypeVar("Port")


async def open_sqlite_to_ask(path: Path, tokeniser: Tokeniser, viewer: str | None) -> Store:
    """Open a file that is there to read it, now and then, in this thread.

    Raises what `open_sqlite_to_read` does.
    """
    database = SqliteDatabase(path, STORED, read_only=True, viewer=viewer)
    schema = await begin_reading(database)

    @cache
    def make_vectors() -> VectorSearch:
        from ragforge.adapters.stores.sqlite.vectors import VectorSearch

        return VectorSearch(viewer)

    def make_index() -> SearchIndex:
        from ragforge.adapters.stores.sqlite.search_index import SqliteIndex

        return SqliteIndex(database, tokeniser, make_vectors())

    def make_timeline() -> Timeline:
        from ragforge.adapters.stores.sqlite.timeline import SqliteTimeline

        return SqliteTimeline(database, tokeniser)

    def make_code() -> CodeGraph:
        from ragforge.adapters.stores.sqlite.code_graph import SqliteCodeGraph

        return SqliteCodeGraph(database, tokeniser, make_vectors())

    @cache
    def build_whole() -> Store:
        from ragforge.adapters.stores.sqlite.store import build_store

        return build_store(database, tokeniser, schema)

    async def health(deep: bool = False, *, check: bool = True) -> Health:
        return await build_whole().health(deep, check=check)

    return Store(
        records=SqliteRecords(database, tokeniser),
        index=make_on_first_use(make_index),
        timeline=make_on_first_use(make_timeline),
        code=make_on_first_use(make_code),
        jobs=make_on_first_use(lambda: build_whole().jobs),
        locks=make_on_first_use(lambda: build_whole().locks),
        archive=make_on_first_use(lambda: build_whole().archive),
        transcripts=make_on_first_use(lambda: build_whole().transcripts),
        health=health,
        query=lambda query: build_whole().query(query),
        upkeep=make_on_first_use(lambda: build_whole().upkeep),
        close=database.close,
        viewer=viewer,
        read_only=True,
    )


class _MadeOnFirstUse(Generic[Port]):
    def __init__(self, make: Callable[[], Port]) -> None:
        self._make = make

    @cached_property
    def _port(self) -> Port:
        return self._make()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


def make_on_first_use(make: Callable[[], Port]) -> Port:
    """Return a port that is made when one of its methods is first used."""
    return cast(Port, _MadeOnFirstUse(make))
