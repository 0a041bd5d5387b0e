"""References: which code a message touched, and what it looked like that day."""

from __future__ import annotations

from functools import partial

import pytest

from ragforge.domain.code import CodeReference
from ragforge.domain.schema import CONVERSATION, MESSAGE, PROJECT
from ragforge.errors import InvalidId, MessageNotFound
from ragforge.ports.store import Store
from tests.fakes.builders import conversation, parsed, project, reference, scope, user


@pytest.fixture
async def talk(store: Store) -> str:
    await store.records.put(CONVERSATION, conversation(uuid="talk"))
    await store.timeline.append("talk", [user(uuid="m"), user(uuid="n")])
    return "talk"


async def references(store: Store, message_id: str) -> list[CodeReference]:
    links = (await store.timeline.links([message_id])).get(message_id)
    return [] if links is None else links.references


async def test_references_are_returned_by_file_and_name(store: Store, talk: str) -> None:
    given = [
        reference("1", "b.py", "alpha"),
        reference("2", "a.py", "Z.run"),
        reference("3", "a.py", "B.run"),
    ]
    await store.timeline.link(MESSAGE, "m", given)

    assert await references(store, "m") == [given[2], given[1], given[0]]
    assert await references(store, "n") == []


async def test_references_of_many_messages_are_returned_at_once(store: Store, talk: str) -> None:
    first, second = reference("1", name="b"), reference("2", name="a")
    await store.timeline.link(MESSAGE, "m", [first, second])
    await store.timeline.link(MESSAGE, "n", [first])

    told = await store.timeline.links(["n", "m", "none"])
    assert told == {"m": ([second, first], []), "n": ([first], [])}
    assert await store.timeline.links([]) == {}


async def test_references_add_up_and_the_newer_hash_stays(store: Store, talk: str) -> None:
    await store.timeline.link(MESSAGE, "m", [reference("1", hash="old"), reference("2", "z.py")])
    await store.timeline.link(MESSAGE, "m", [reference("1", hash="new")])
    await store.timeline.link(MESSAGE, "m", [])

    told = await references(store, "m")

    assert told == [reference("1", hash="new"), reference("2", "z.py")]


async def test_what_says_most_about_a_scope_stays(store: Store, talk: str) -> None:
    refer = partial(store.timeline.link, MESSAGE)
    await refer("m", [reference("1", how="found"), reference("2", how="edited", name="b")])
    await refer("m", [reference("1", how="read"), reference("2", how="found", name="b")])
    await refer("m", [reference("1", how="named", hash="new")])

    found = await references(store, "m")

    assert [(one.scope_id, one.how, one.hash) for one in found] == [
        ("1", "read", "new"),
        ("2", "edited", "h1"),
    ]


async def test_a_reference_outlives_its_scope(store: Store, talk: str) -> None:
    shop, add = project(), scope("add", uuid="add")
    await store.records.put(PROJECT, shop)
    await store.code.replace_files(shop.uuid, [parsed("src/cart.py", add)])
    given = reference("add", hash="that day")
    await store.timeline.link(MESSAGE, "m", [given])

    await store.code.remove_files(shop.uuid, ["src/cart.py"])
    assert await references(store, "m") == [given]

    await store.records.delete(PROJECT, shop.uuid)
    assert await references(store, "m") == [given]


async def test_code_that_is_not_in_the_brain_can_be_referred_to(store: Store, talk: str) -> None:
    given = reference("never ingested", "gone.py")
    await store.timeline.link(MESSAGE, "m", [given])
    assert await references(store, "m") == [given]


async def test_a_reference_needs_the_id_of_a_scope(store: Store, talk: str) -> None:
    with pytest.raises(InvalidId):
        await store.timeline.link(MESSAGE, "m", [reference("ok"), reference("")])
    assert await references(store, "m") == []


async def test_an_unknown_message_cannot_refer(store: Store, talk: str) -> None:
    with pytest.raises(MessageNotFound):
        await store.timeline.link(MESSAGE, "none", [reference("1")])
    assert await store.archive.count("reference") == 0
