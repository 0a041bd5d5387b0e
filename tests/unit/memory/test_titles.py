"""A session is named by its first turn, unless its user names it first."""

from __future__ import annotations

from ragforge.domain.conversations import ConversationChanges
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.turns import Turn
from ragforge.memory.sessions import give_title
from ragforge.ports.store import Store
from tests.fakes.builders import assistant, conversation, user
from tests.fakes.engines import Engines


async def open_session(engines: Engines) -> Store:
    store = await engines.empty("sqlite")
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [user("Where is the cart?"), assistant("There.")])
    return store


async def test_a_session_without_a_title_gets_one(engines: Engines) -> None:
    store = await open_session(engines)

    async def make(turn: Turn) -> str:
        return f"About {turn.user.content}"

    await give_title(store, "c", make)
    assert (await store.records.get(CONVERSATION, "c")).title == "About Where is the cart?"


async def test_a_title_that_the_user_gives_meanwhile_stays(engines: Engines) -> None:
    store = await open_session(engines)

    async def make(turn: Turn) -> str:
        await store.records.update(CONVERSATION, "c", ConversationChanges(title="My cart"))
        return "Another title"

    await give_title(store, "c", make)
    assert (await store.records.get(CONVERSATION, "c")).title == "My cart"
