"""Open a Neo4j store."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from ragforge.adapters.stores.neo4j import record_pages, restore
from ragforge.adapters.stores.neo4j.code_graph import Neo4jCodeGraph
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, connect
from ragforge.adapters.stores.neo4j.intake import Neo4jTranscripts
from ragforge.adapters.stores.neo4j.migrate import find_problems, prepare, read_server_version
from ragforge.adapters.stores.neo4j.query import run_query
from ragforge.adapters.stores.neo4j.records import Neo4jRecords
from ragforge.adapters.stores.neo4j.search_index import Neo4jIndex
from ragforge.adapters.stores.neo4j.timeline import Neo4jTimeline
from ragforge.adapters.stores.neo4j.work import Neo4jJobs, Neo4jLocks
from ragforge.domain.conversation_bundle import Bundle, clean_bundle
from ragforge.domain.kinds import Redactor
from ragforge.ports.search_index import Tokeniser
from ragforge.ports.store import Health, Record, RecordKind, ReindexProgress, Store, check_writer


async def open_neo4j(
    url: str,
    tokeniser: Tokeniser,
    redactor: Redactor,
    user: str | None = None,
    password: str | None = None,
    database: str | None = None,
    viewer: str | None = None,
    state: Path | None = None,
) -> Store:
    """Open a database of a server, creating or upgrading its schema.

    The viewer is the key of an author: what is private to others does not exist for them.
    Without one, everything is seen and may be changed: that is for administrators.
    Whatever is written loses its secrets.
    What one process wrote on a cluster is noted in the `state` folder, for the next one.

    Raises a StoreUnavailable that says what is wrong and what to do about it.
    """
    opened = connect(url, user, password, database, redactor, viewer, state)
    try:
        await opened.verify()
        schema = await prepare(opened, tokeniser)
    except BaseException:
        await opened.close()
        raise

    async def health(deep: bool = False, *, check: bool = True) -> Health:
        return Health(
            engine="neo4j",
            version=await read_server_version(opened),
            location=opened.url,
            schema=schema,
            problems=tuple(await find_problems(opened)) if check else (),
        )

    return Store(
        records=Neo4jRecords(opened, tokeniser),
        index=Neo4jIndex(opened, tokeniser),
        timeline=Neo4jTimeline(opened, tokeniser),
        code=Neo4jCodeGraph(opened, tokeniser),
        jobs=Neo4jJobs(opened),
        locks=Neo4jLocks(opened),
        archive=Neo4jArchive(opened, tokeniser),
        transcripts=Neo4jTranscripts(opened, tokeniser),
        health=health,
        query=partial(run_query, opened),
        upkeep=Neo4jUpkeep(),
        close=opened.close,
        viewer=opened.viewer,
    )


class Neo4jArchive:
    """Implements `Archive`."""

    def __init__(self, database: Neo4jDatabase, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def count(self, kind: RecordKind) -> int:
        return await self._database.read(lambda tx: record_pages.count(tx, kind))

    async def read(
        self, kind: RecordKind, after: str | None, limit: int
    ) -> list[tuple[str, Record]]:
        return await self._database.read(lambda tx: record_pages.read(tx, kind, after, limit))

    async def conversation(self, conversation_id: str, with_vectors: bool = True) -> Bundle:
        return await self._database.write(
            lambda tx: record_pages.read_conversation(tx, conversation_id, with_vectors)
        )

    async def write(self, bundle: Bundle, new: bool = False) -> None:
        check_writer(self._database.viewer, bundle, new)
        rows = await asyncio.to_thread(clean_bundle, bundle, self._database.redactor, new)
        await self._database.write(lambda tx: restore.write(tx, rows, new, self._tokeniser))


class Neo4jUpkeep:
    """Implements `Upkeep`. Words are reindexed when the store is opened."""

    async def step(self) -> bool:
        return False

    async def reindexing(self) -> ReindexProgress | None:
        return None
