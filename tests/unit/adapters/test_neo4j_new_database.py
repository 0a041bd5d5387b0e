"""A database without nodes gets the newest schema at once, one with nodes step by step."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, cast

from ragforge.adapters.stores.neo4j import migrate
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.domain.kinds import Row
from ragforge.search.words.tokenise import WORDS


class Server:
    """Keeps what it is sent; it holds nodes or none, and no schema."""

    url = "bolt://new.example"

    def __init__(self, is_empty: bool) -> None:
        self._is_empty = is_empty
        self.sent: list[str] = []

    async def read(self, *_: object) -> Row:
        return {"server": "5.26.30", "version": 0, "tokeniser": None}

    async def write(self, work: Callable[[Transaction], Awaitable[object]]) -> object:
        return await work(cast(Transaction, self))

    async def in_batches(self, query: str) -> None:
        self.sent.append(query)

    async def rows(self, query: str, **_: Any) -> list[Row]:
        self.sent.append(query)
        return []

    async def column(self, query: str, **_: Any) -> list[Any]:
        return await self.rows(query)

    async def each(self, query: str, *_: Any) -> list[Row]:
        return await self.rows(query)

    async def row(self, query: str) -> None:
        await self.rows(query)

    async def value(self, query: str) -> bool:
        return self._is_empty


async def prepare(is_empty: bool) -> list[str]:
    server = Server(is_empty)
    assert await migrate.prepare(cast(Neo4jDatabase, server), WORDS) == len(
        migrate.read_migrations()
    )
    return server.sent


def find_schema(sent: list[str]) -> set[str]:
    """Return the names of the indexes and constraints that are there in the end."""
    left: set[str] = set()
    for text in sent:
        if found := re.match(r"(CREATE|DROP) .*?(ragforge_\w+)", text):
            verb, name = found.groups()
            (left.add if verb == "CREATE" else left.discard)(name)
    return left


async def test_a_new_database_waits_for_its_indexes_once_and_reads_no_data() -> None:
    sent = await prepare(is_empty=True)

    assert sum("awaitIndexes" in text for text in sent) == 1
    assert not [text for text in sent if "MATCH" in text.replace("MATCH (n:RagForgeSchema", "")]


async def test_a_new_database_has_the_indexes_that_the_steps_lead_to() -> None:
    at_once, by_steps = await prepare(is_empty=True), await prepare(is_empty=False)

    assert find_schema(at_once) == find_schema(by_steps)
    assert any("IN TRANSACTIONS" in text for text in by_steps)
