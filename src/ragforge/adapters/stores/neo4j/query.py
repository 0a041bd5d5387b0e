"""Query: run a user's Cypher, which can only read."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from neo4j.exceptions import Neo4jError
from neo4j.graph import Node, Path, Relationship
from neo4j.time import DateTime

from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.domain.instants import format_instant
from ragforge.domain.queries import Query, QueryResult, ResultSize, Value
from ragforge.errors import InputError

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
    if isinstance(value, Path):
        return [to_value(node) for node in value.nodes]
    if isinstance(value, Node | Relationship | Mapping):
        return {str(name): to_value(item) for name, item in value.items()}
    if isinstance(value, DateTime) and value.tzinfo is not None:
        return format_instant(value.to_native())
    if hasattr(value, "iso_format"):  # a date, a time, a duration
        return str(value.iso_format())
    return [to_value(item) for item in value] if isinstance(value, list) else str(value)
