"""What only a server has: an index for large scopes, schemas of other versions, no answer."""

from __future__ import annotations

import random

import neo4j
import pytest

from ragforge.adapters.stores.neo4j import migrate, vectors
from ragforge.adapters.stores.neo4j.store import open_neo4j
from ragforge.domain.conversations import MemoryFilter, Message
from ragforge.errors import SchemaTooNew, StoreUnavailable
from ragforge.ports.store import Store
from ragforge.search.tokenise import WORDS, Words
from tests.fakes.builders import conversation, exchange, vector
from tests.fakes.engines import Engines

pytestmark = pytest.mark.neo4j


@pytest.fixture
async def store(engines: Engines) -> Store:
    return await engines.empty("neo4j")


async def test_the_index_finds_in_a_large_scope_what_an_exact_scan_finds(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(5)
    for name in ("large", "small"):
        await store.conversations.create(conversation(uuid=name))
    for name, amount in (("large", 400), ("small", 30)):
        turns = [Message("user", "", uuid=f"{name}-{n}") for n in range(amount)]
        await store.conversations.append(name, turns)
        await store.conversations.embed_turns(
            {turn.uuid: vector(*(chance.gauss(0, 1) for _ in range(8))) for turn in turns}
        )
    query = vector(*(chance.gauss(0, 1) for _ in range(8)))

    async def answers() -> list[list[str]]:
        scopes = (MemoryFilter(), MemoryFilter(conversation_id="small"))
        found = []
        for where in scopes:
            for least in (0.0, 0.8):
                matches = await store.conversations.turns_by_vector(query, where, 10, least)
                found.append([match.id for match in matches])
        return found

    exact = await answers()
    monkeypatch.setattr(vectors, "EXACT_UP_TO", 5)
    monkeypatch.setattr(vectors, "_FIRST_FETCH", 12)

    assert await answers() == exact
    assert len(exact[0]) == len(exact[2]) == 10


async def test_a_store_of_the_future_is_refused(store: Store, neo4j_url: str) -> None:
    async with neo4j.AsyncGraphDatabase.driver(neo4j_url) as driver:
        await driver.execute_query("MATCH (n:RagForgeSchema) SET n.version = n.version + 998")
        try:
            with pytest.raises(SchemaTooNew, match="Upgrade RagForge") as caught:
                await open_neo4j(neo4j_url, WORDS)
        finally:
            await driver.execute_query("MATCH (n:RagForgeSchema) SET n.version = n.version - 998")

    assert caught.value.known == len(migrate.migrations())


async def test_a_new_tokeniser_indexes_old_texts_anew(store: Store, neo4j_url: str) -> None:
    class Backwards(Words):
        version = "backwards"

        def prose(self, text: str) -> str:
            return super().prose(text)[::-1]

    old = await open_neo4j(neo4j_url, Backwards())
    await old.conversations.create(conversation(uuid="c"))
    await old.conversations.append("c", exchange("parsing headers", "done"))
    assert await old.conversations.turns_by_words("parsing", MemoryFilter(), 5) == []
    await old.close()

    new = await open_neo4j(neo4j_url, WORDS)

    assert len(await new.conversations.turns_by_words("parsing", MemoryFilter(), 5)) == 1
    await new.close()


async def test_a_port_where_nobody_answers_is_named_without_the_password() -> None:
    with pytest.raises(StoreUnavailable, match=r"bolt://127\.0\.0\.1:9 does not answer") as caught:
        await open_neo4j("bolt://127.0.0.1:9", WORDS, user="ann", password="hunter2")

    assert "hunter2" not in str(caught.value)


async def test_a_database_that_does_not_exist_is_named(store: Store, neo4j_url: str) -> None:
    with pytest.raises(StoreUnavailable, match="nowhere"):
        await open_neo4j(neo4j_url, WORDS, database="nowhere")
