"""Which turns pass a filter: what is kept in memory follows what any process writes."""

from __future__ import annotations

from pathlib import Path

from ragforge.adapters.stores.sqlite.database import connect
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import CONVERSATION, TURN
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import conversation, user

HERE = MemoryFilter(project_ids=["here"])


async def say(store: Store, talk: str, project: str) -> str:
    """Store a turn about zebras in a separate conversation; return its id."""
    await store.records.put(CONVERSATION, conversation(uuid=talk, project_id=project))
    [turn] = await store.timeline.append(talk, [user("The zebra sleeps.")])
    return turn.uuid


async def find(store: Store) -> set[str]:
    found = (await store.index.search(TURN, "zebra", None, HERE, 9, read=0)).by_words
    return {match.id for match in found}


async def test_a_kept_filter_follows_turns_that_are_added_deleted_and_moved(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    other = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)  # as another process would
    try:
        first = await say(store, "a", "here")
        assert await find(store) == {first}

        second = await say(other, "b", "here")
        await say(other, "c", "there")
        assert await find(store) == {first, second}

        await other.records.delete(CONVERSATION, "b")  # the next turn may get its number
        third = await say(other, "d", "here")
        assert await find(store) == {first, third}

        connect(tmp_path / "store.db").execute("UPDATE turn SET project_id = 'there'")
        assert await find(store) == set()
    finally:
        await store.close()
        await other.close()
