"""A Neo4j server that goes away and comes back: clear errors, then everything works again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragforge.adapters.stores.neo4j.store import open_neo4j
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import CONVERSATION, TURN
from ragforge.errors import StoreUnavailable
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from scripts.neo4j_server import Neo4jServer, Neo4jUnavailable
from tests.fakes.builders import conversation, exchange

pytestmark = [pytest.mark.neo4j, pytest.mark.long]


@pytest.fixture
def server() -> Iterator[Neo4jServer]:
    """A separate server: stopping the shared one would break every other test."""
    try:
        with Neo4jServer() as server:
            yield server
    except Neo4jUnavailable as error:
        pytest.skip(f"no Neo4j: {error}")


async def test_a_server_that_is_killed_and_started_again_loses_nothing(
    server: Neo4jServer,
) -> None:
    store = await open_neo4j(server.url, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    for number in range(5):
        await store.timeline.append("c", exchange(f"before {number}", "yes"))

    server.kill()

    with pytest.raises(StoreUnavailable, match=f"{server.url} does not answer"):
        await store.timeline.append("c", exchange("while it is away", "no"))
    with pytest.raises(StoreUnavailable, match="does not answer"):
        await store.timeline.messages("c")
    with pytest.raises(StoreUnavailable, match="does not answer"):
        await open_neo4j(server.url, WORDS, REDACTOR)

    server.start()

    await store.timeline.append("c", exchange("after", "yes"))
    asked = [m.content for m in await store.timeline.messages("c") if m.role == "user"]
    assert asked == [*(f"before {number}" for number in range(5)), "after"]
    assert (
        len((await store.index.search(TURN, "after", None, MemoryFilter(), 5, read=0)).by_words)
        == 1
    )
    assert (await store.records.get(CONVERSATION, "c")).turn_count == 6
    await store.close()
