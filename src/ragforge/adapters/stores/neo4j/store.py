"""Open a Neo4j store, and run a user's Cypher, which can only read."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from neo4j.exceptions import Neo4jError
from neo4j.graph import Node, Relationship
from neo4j.graph import Path as GraphPath
from neo4j.time import DateTime

from ragforge.adapters.stores.neo4j import record_pages, restore
from ragforge.adapters.stores.neo4j.code_graph import Neo4jCodeGraph
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction, connect
from ragforge.adapters.stores.neo4j.intake import Neo4jTranscripts
from ragforge.adapters.stores.neo4j.migrate import find_problems, prepare, read_server_version
from ragforge.adapters.stores.neo4j.records import Neo4jRecords
from ragforge.adapters.stores.neo4j.search_index import Neo4jIndex
from ragforge.adapters.stores.neo4j.timeline import Neo4jTimeline
from ragforge.adapters.stores.neo4j.work import Neo4jJobs, Neo4jLocks
from ragforge.domain.conversation_bundle import Bundle, clean_bundle
from ragforge.domain.instants import format_instant
from ragforge.domain.kinds import Redactor
from ragforge.domain.queries import Query, QueryResult, ResultSize, Value
from ragforge.errors import InputError
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


GRACE = 1.0
"""Seconds that the server has to stop a query itself."""
_READ_ONLY = "Only reading is allowed here: MATCH, RETURN and the like. Nothing was changed."
_FORBIDDEN = {
    "LoadCSV": "LOAD CSV makes the server read files and addresses, which is not allowed here.",
    "TerminateTransactions": "Ending the transactions of others is not allowed here.",
}
"""Steps of a plan that the server counts as reading."""
_PLACE = re.compile(r"\(line (\d+), column (\d+) ")
_WRONG = ("Neo.ClientError.Statement.", "Neo.ClientError.Procedure.")


async def run_query(database: Neo4jDatabase, query: Query) -> QueryResult:
    """Run a query in a transaction that the server lets only read.

    It is planned first: what changes the server rather than its data is refused by its plan.
    Raises InputError for one that cannot be run, wants more than to read, takes too long or returns
    too much.
    """

    async def work(tx: Transaction) -> QueryResult:
        with _translate_refusals(query):
            kind, steps = await tx.explain(query.text, query.parameters)
            for step in steps:
                if step in _FORBIDDEN:
                    raise InputError(_FORBIDDEN[step])
            if kind != "r":
                raise InputError(_READ_ONLY)
            # The server does not stop while it sends one long value.
            async with asyncio.timeout(query.max_seconds + GRACE):
                return await _read(tx, query)

    return await database.read(work, seconds=query.max_seconds)


async def _read(tx: Transaction, query: Query) -> QueryResult:
    columns, rows = await tx.stream(query.text, query.parameters)
    found: list[tuple[Value, ...]] = []
    size = ResultSize()
    async for row in rows:
        if len(found) == query.max_rows:
            return QueryResult(columns, tuple(found), is_cut=True)
        found.append(tuple(map(to_value, row)))
        size.add(found[-1])
    return QueryResult(columns, tuple(found))


@contextmanager
def _translate_refusals(query: Query) -> Iterator[None]:
    """Raise what the server has against a query as an InputError."""
    late = (
        f"The query was stopped after {query.max_seconds:g} seconds. Narrow it, or give it more "
        "time with --timeout."
    )
    try:
        yield
    except TimeoutError as error:
        raise InputError(late) from error
    except Neo4jError as error:
        code, message = error.code or "", error.message or ""
        if code == "Neo.ClientError.Statement.AccessMode":
            raise InputError(_READ_ONLY) from error
        if "TransactionTimedOut" in code:
            raise InputError(late) from error
        if code == "Neo.ClientError.Statement.ParameterMissing":
            name = message.rpartition(" ")[2]
            raise InputError(
                f"The query needs a value for ${name}. Give it: --param {name}=VALUE"
            ) from error
        if code.startswith(_WRONG):
            raise InputError(f"The query cannot be run: {_shorten(message)}.") from error
        raise


def _shorten(message: str) -> str:
    """Return the reason and its place; the rest of a message repeats the query."""
    reason = _PLACE.split(message.partition("\n")[0])[0].strip().rstrip(".")
    place = _PLACE.search(message)
    if place is None or place[1] == "0":
        return reason
    return f"{reason} (line {int(place[1]) - 1}, column {place[2]})"  # EXPLAIN is the first line


def to_value(value: Any) -> Value:
    """Return a value of the graph as JSON has it: a node or relationship is its properties."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, bytes | bytearray):
        return bytes(value).hex()
    if isinstance(value, GraphPath):
        return [to_value(node) for node in value.nodes]
    if isinstance(value, Node | Relationship | Mapping):
        return {str(name): to_value(item) for name, item in value.items()}
    if isinstance(value, DateTime) and value.tzinfo is not None:
        return format_instant(value.to_native())
    if hasattr(value, "iso_format"):  # a date, a time, a duration
        return str(value.iso_format())
    return [to_value(item) for item in value] if isinstance(value, list) else str(value)
