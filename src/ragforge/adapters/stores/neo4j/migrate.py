"""Migrate: upgrade a database to the newest schema, one numbered step at a time."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from importlib.resources import files
from itertools import chain, groupby

from ragforge.adapters.stores.neo4j.cypher import LOCK
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.adapters.stores.neo4j.words import reindex
from ragforge.domain.kinds import Row
from ragforge.errors import SchemaTooNew, StoreError, StoreUnavailable
from ragforge.ports.search_index import Tokeniser

log = logging.getLogger(__name__)

OLDEST_SERVER = (5, 26)
INDEX_SECONDS = 600
_NODE = "(n:RagForgeSchema {name: 'ragforge'})"
_ONE_NODE = """CREATE CONSTRAINT ragforge_schema IF NOT EXISTS
               FOR (n:RagForgeSchema) REQUIRE n.name IS UNIQUE"""
_IS_EMPTY = "RETURN NOT EXISTS { MATCH (n) WHERE NOT n:RagForgeSchema }"
_SCHEMA_CHANGE = re.compile(r"(?:CREATE|DROP) (?:\w+ )*?(?:INDEX|CONSTRAINT) (\w+)")
_TRIES = 10


def read_migrations() -> list[list[str]]:
    """Return the statements of every step; the first creates schema 1."""
    folder = files("ragforge.adapters.stores.neo4j") / "migrations"
    steps = sorted((step for step in folder.iterdir()), key=lambda step: step.name)
    return [
        _split_statements(step.read_text("utf-8"))
        for step in steps
        if step.name.endswith(".cypher")
    ]


async def prepare(database: Neo4jDatabase, tokeniser: Tokeniser) -> int:
    """Create or upgrade the schema and return its number.

    Raises SchemaTooNew, or StoreUnavailable if the server is too old.
    """
    steps = read_migrations()
    newest = len(steps)
    found = await database.read(_read_server)
    _check_server(database, found["server"])
    _check_schema(database, found["version"], newest)
    # A store that is current has its indexes: they were waited for before it was called so.
    if (found["version"], found["tokeniser"]) != (newest, tokeniser.version):
        await _retry(partial(_run, database, [_ONE_NODE]))
        await database.write(lambda tx: _upgrade(tx, database, steps, tokeniser))
        await _await_indexes(database)
    return newest


async def read_server_version(database: Neo4jDatabase) -> str:
    """Return the server's version."""
    return str((await database.read(_read_server))["server"])


async def find_problems(database: Neo4jDatabase) -> list[str]:
    """Return what is wrong with the indexes."""
    rows = await database.rows(
        """SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'ragforge_' AND state <> 'ONLINE'
           RETURN name, toLower(state) AS state"""
    )
    return [f"The index {row['name']} is {row['state']}." for row in rows]


def _check_server(database: Neo4jDatabase, version: str) -> None:
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    if numbers < OLDEST_SERVER:
        raise StoreUnavailable(
            f"Neo4j at {database.url} is version {version}; RagForge needs "
            f"{'.'.join(map(str, OLDEST_SERVER))} or newer. Upgrade the server, or choose another "
            "store with --store."
        )


async def _upgrade(
    tx: Transaction, database: Neo4jDatabase, steps: list[list[str]], tokeniser: Tokeniser
) -> None:
    """Upgrade in other transactions, holding the schema's lock in this one.

    Neo4j changes indexes and data in separate transactions only. Every step can be
    repeated, so that a crash in between does no harm.
    """
    await tx.rows(f"MERGE {_NODE} {LOCK}")
    row = await _read_schema(tx)
    _check_schema(database, row["version"], len(steps))
    if await tx.value(_IS_EMPTY):
        await _retry(partial(_run, database, list_newest_schema(steps)))
    else:
        await _migrate(database, steps, row, tokeniser)
    await tx.rows(
        f"MERGE {_NODE} SET n.version = $version, n.tokeniser = $tokeniser",
        version=len(steps),
        tokeniser=tokeniser.version,
    )


async def _migrate(
    database: Neo4jDatabase, steps: list[list[str]], found: Row, tokeniser: Tokeniser
) -> None:
    """Take the steps that a store lacks, and index its words by this tokeniser."""
    for number, step in enumerate(steps[found["version"] :], found["version"] + 1):
        log.info("%s: migrating to schema %d", database.url, number)
        await _take_step(database, step)
    if found["tokeniser"] != tokeniser.version:
        log.info("%s: reindexing words", database.url)
        await reindex(database, tokeniser)


def list_newest_schema(steps: list[list[str]]) -> list[str]:
    """Return the last statement about each index and constraint.

    A database without nodes needs only these, at once: there are no data to change, and waiting
    for the indexes of every step takes longer than creating them.
    """
    last: dict[str, str] = {}
    for statement in chain.from_iterable(steps):
        if found := _SCHEMA_CHANGE.match(statement):
            last[found[1]] = statement
    return list(last.values())


async def _take_step(database: Neo4jDatabase, statements: list[str]) -> None:
    """Run the statements of a step in order, those that change indexes together.

    A statement that changes data has `IN TRANSACTIONS` in it, and chooses what is not changed
    yet: it continues where it was after a crash, and no transaction grows with the store.
    """
    for in_batches, group in groupby(statements, lambda text: "IN TRANSACTIONS" in text):
        if in_batches:
            for statement in group:
                await _retry(partial(database.in_batches, statement))
        else:
            await _retry(partial(_run, database, list(group)))
            await _await_indexes(database)


async def _await_indexes(database: Neo4jDatabase) -> None:
    await database.rows("CALL db.awaitIndexes($seconds)", seconds=INDEX_SECONDS)


async def _read_schema(tx: Transaction) -> Row:
    row = await tx.row(
        f"MATCH {_NODE} RETURN coalesce(n.version, 0) AS version, n.tokeniser AS tokeniser"
    )
    return row or {"version": 0, "tokeniser": None}


async def _read_server(tx: Transaction) -> Row:
    """Return the server's version and what `_read_schema` returns, in one query."""
    [row] = await tx.rows(
        f"""CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel'
            OPTIONAL MATCH {_NODE}
            RETURN versions[0] AS server, coalesce(n.version, 0) AS version,
                   n.tokeniser AS tokeniser"""
    )
    return row


def _check_schema(database: Neo4jDatabase, found: int, known: int) -> None:
    if found > known:
        raise SchemaTooNew(f"Neo4j at {database.url}", found, known)


async def _run(database: Neo4jDatabase, statements: Sequence[str]) -> None:
    """Run statements in one transaction."""

    async def work(tx: Transaction) -> None:
        for statement in statements:
            await tx.rows(statement)

    await database.write(work)


async def _retry(work: Callable[[], Awaitable[None]]) -> None:
    """Do what another process may be doing at this very moment."""
    for attempt in range(_TRIES):
        try:
            await work()
            return
        except StoreUnavailable:
            raise
        except StoreError:
            if attempt == _TRIES - 1:
                raise
            await asyncio.sleep(0.2 * (attempt + 1))


def _split_statements(text: str) -> list[str]:
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("//")]
    return [part.strip() for part in "".join(lines).split(";\n") if part.strip()]
