"""Copying a whole store: nothing is lost or changed, between any two engines."""

from __future__ import annotations

import pytest

from ragforge.domain.code import CodeFilter
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.passages import PassageFilter
from ragforge.domain.projects import Checkout, CheckoutFilter, RepositoryIdentity, join_checkout
from ragforge.domain.schema import (
    CHECKOUT,
    CONVERSATION,
    JOB,
    PASSAGE,
    PROJECT,
    SUMMARY,
    TURN,
)
from ragforge.domain.summaries import SummaryFilter
from ragforge.memory.history import History
from ragforge.ports.store import Store
from tests.fakes.builders import at, conversation, direction, user, vector
from tests.fakes.code import (
    find_by_words,
    find_nearest,
    list_directories,
    list_files,
    list_missing,
    list_scopes,
    relations_of,
)
from tests.fakes.copying import everything, pages_of
from tests.fakes.engines import Engines
from tests.fakes.rich import Rich, fill
from tests.fakes.whole import read_whole

PAIRS = [
    pytest.param("sqlite", "sqlite"),
    pytest.param("neo4j", "neo4j", marks=pytest.mark.neo4j),
    pytest.param("sqlite", "neo4j", marks=pytest.mark.neo4j),
    pytest.param("neo4j", "sqlite", marks=pytest.mark.neo4j),
]


async def copied(engines: Engines, source: str, target: str, size: int = 2) -> tuple[Rich, Store]:
    """Fill a store and copy it into an empty one; the source may be gone afterwards."""
    original = await engines.empty(source)
    rich = await fill(original)
    pages = await pages_of(original, size)
    copy = await engines.empty(target)
    for kind, page in pages:
        await copy.archive.write({kind: page})
    return rich, copy


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("size", [2, 1_000])
async def test_a_copy_holds_the_same_records(
    engines: Engines, source: str, target: str, size: int
) -> None:
    original = await engines.empty(source)
    await fill(original)
    pages, expected = await pages_of(original, size), await everything(original)

    copy = await engines.empty(target)
    for kind, page in pages:
        await copy.archive.write({kind: page})

    actual = await everything(copy)
    for kind, records in expected.items():
        assert actual[kind] == records, kind


@pytest.mark.neo4j
@pytest.mark.parametrize("source", ["sqlite", "neo4j"])
async def test_a_copy_of_a_copy_on_another_engine_is_the_original(
    engines: Engines, source: str
) -> None:
    other = "neo4j" if source == "sqlite" else "sqlite"
    _, there = await copied(engines, source, other)
    expected, pages = await everything(there), await pages_of(there, 3)

    back = await engines.empty(source)
    for kind, page in pages:
        await back.archive.write({kind: page})

    assert await everything(back) == expected


@pytest.mark.neo4j
async def test_engines_tell_the_same_facts_in_the_same_words(engines: Engines) -> None:
    """Only ids and times that a store makes up by itself may differ."""
    told = []
    for engine in ("sqlite", "neo4j"):
        store = await engines.empty(engine)
        await fill(store)
        facts = await everything(store)
        told.append({kind: [sorted(record) for record in facts[kind]] for kind in facts})
    assert told[0] == told[1]


@pytest.mark.parametrize(("source", "target"), PAIRS)
async def test_writing_the_same_again_changes_nothing(
    engines: Engines, source: str, target: str
) -> None:
    _, copy = await copied(engines, source, target)
    expected = await everything(copy)

    for kind, page in await pages_of(copy, 100):
        await copy.archive.write({kind: page})

    assert await everything(copy) == expected


@pytest.mark.parametrize(("source", "target"), PAIRS)
async def test_a_copy_is_searched_like_the_original(
    engines: Engines, source: str, target: str
) -> None:
    original = await engines.empty(source)
    rich = await fill(original)
    expected = await findings(original, rich)
    pages = await pages_of(original, 2)

    copy = await engines.empty(target)
    for kind, page in pages:
        await copy.archive.write({kind: page})

    assert await findings(copy, rich) == expected


async def findings(store: Store, rich: Rich) -> dict[str, object]:
    """Return what all searches find, without the scores that depend on the engine."""
    cart = MemoryFilter(conversation_id=rich.cart.uuid)
    found = {
        "turns by words": (await store.index.search(TURN, "zebra", None, cart, 9, read=0)).by_words,
        "passages by words": (
            await store.index.search(PASSAGE, "no such file", None, PassageFilter(), 9)
        ).by_words,
        "passages by vector": (
            await store.index.search(PASSAGE, "", direction(1), PassageFilter(), 9)
        ).by_vector,
        "turns in Chinese": (
            await store.index.search(TURN, "数据库", None, cart, 9, read=0)
        ).by_words,
        "turns by vector": (
            await store.index.search(TURN, "", direction(1), cart, 9, read=0)
        ).by_vector,
        "talks": (
            await store.index.search(CONVERSATION, "", direction(1), ConversationFilter(), 9)
        ).by_vector,
        "summaries by words": (
            await store.index.search(SUMMARY, "zebra", None, SummaryFilter(), 9)
        ).by_words,
        "summaries by vector": (
            await store.index.search(SUMMARY, "", direction(1), SummaryFilter(), 9)
        ).by_vector,
        "scopes by words": await find_by_words(store, "zebras", CodeFilter(rich.shop.uuid), 9),
        "sections": await find_by_words(store, "upgrade", CodeFilter(sections=True), 9),
        "scopes by vector": await find_nearest(
            store, vector(1, 0.1, 0, model="code-model"), CodeFilter(), 9
        ),
    }
    assert all(found.values())
    return {name: [match.id for match in matches] for name, matches in found.items()}


@pytest.mark.parametrize(("source", "target"), PAIRS)
async def test_a_copy_answers_like_the_original(engines: Engines, source: str, target: str) -> None:
    original = await engines.empty(source)
    rich = await fill(original)
    expected = await answers(original, rich)
    pages = await pages_of(original, 100)

    copy = await engines.empty(target)
    for kind, page in pages:
        await copy.archive.write({kind: page})

    actual = await answers(copy, rich)
    for question, answer in expected.items():
        assert actual[question] == answer, question


async def answers(store: Store, rich: Rich) -> dict[str, object]:
    talk = store.timeline
    cart, shop = rich.cart.uuid, rich.shop.uuid
    return {
        "conversations": await store.records.find(CONVERSATION, ConversationFilter()),
        "messages": await talk.messages(cart),
        "branch": await talk.messages(rich.branch.uuid),
        "branches": (await read_whole(store, cart)).branches,
        "turns": await talk.turns(rich.turn_ids),
        "tool calls": await History(store).get_tool_calls(cart),
        "links": await talk.links(["answer-1", "l1-0", "l2"]),
        "about": await talk.touches(files=["src/cart.py"]),
        "turns to embed": await store.index.pending(TURN, direction(0).model, 9),
        "summaries": await store.records.find(SUMMARY, SummaryFilter()),
        "coverage": await talk.coverage(cart, 0),
        "uncovered": await talk.coverage(cart),
        "not in level 2": await store.records.find(
            SUMMARY, SummaryFilter(cart, outside_level_2=True)
        ),
        "project": await store.records.get(PROJECT, rich.shop.uuid),
        "files": await list_files(store, shop),
        "directories": [d.path for d in await list_directories(store, shop)],
        "scopes": await list_scopes(store, shop, "src/cart.py"),
        "scopes to embed": sorted(await list_missing(store, shop, "code-model")),
        "relations": [await relations_of(store, node, "out") for node in ("f-cart", "total")],
        "libraries": await relations_of(store, "numpy", "in"),
        "jobs": [await store.records.get(JOB, k) for k in ("job-done", "job-dead", "job-waiting")],
        "job counts": (await store.jobs.count()).by_status,
    }


@pytest.mark.parametrize(("source", "target"), PAIRS)
async def test_a_copied_conversation_can_be_continued(
    engines: Engines, source: str, target: str
) -> None:
    rich, copy = await copied(engines, source, target)

    [said] = await copy.timeline.append(rich.cart.uuid, [user("goes on")])

    assert (said.turn_index, said.position) == (3, 7)
    stored = await copy.records.get(CONVERSATION, rich.cart.uuid)
    assert (stored.message_count, stored.turn_count) == (8, 4)
    assert (await copy.locks.held(["ingestion"])).get("ingestion") is None


async def test_two_old_stores_with_a_project_at_one_path_are_both_kept(
    engines: Engines, engine: str
) -> None:
    path = "/workspace"
    stores = []
    for name in ("ann", "bob"):  # as the migration makes them: the id follows from the path
        old = await engines.empty("sqlite")
        await old.records.put(
            CHECKOUT, Checkout(path, name, former_ids=(path,), uuid="k", seen_at=at(0))
        )
        await old.records.put(CONVERSATION, conversation(path, uuid=name, project_id=name))
        stores.append(await pages_of(old, 9))
    target = await engines.empty(engine)

    for pages in (*stores, *stores):  # a second copy changes nothing
        for kind, page in pages:
            await target.archive.write({kind: page})

    found = await target.records.find(
        CHECKOUT, CheckoutFilter(related_to=(path, RepositoryIdentity()))
    )
    assert {one.project_id for one in found} == {"ann", "bob"}
    assert len(found) == len({one.uuid for one in found}) == 2
    for name in ("ann", "bob"):
        of_one = ConversationFilter(project_ids=[name])
        [session] = await target.records.find(CONVERSATION, of_one, 9)
        assert session.uuid == name


async def test_a_checkout_that_was_joined_to_another_project_stays_so_when_it_is_copied_again(
    engines: Engines, engine: str
) -> None:
    old = await engines.empty("sqlite")
    await old.records.put(CHECKOUT, Checkout("/a", "p", uuid="k", seen_at=at(0)))
    pages = await pages_of(old, 9)
    target = await engines.empty(engine)

    for kind, page in pages:
        await target.archive.write({kind: page})
    [known] = await target.records.find(CHECKOUT, CheckoutFilter(["p"]))
    await target.records.put(CHECKOUT, join_checkout(known, "q"))
    for kind, page in pages:
        await target.archive.write({kind: page})

    [found] = await target.records.find(
        CHECKOUT, CheckoutFilter(related_to=("/a", RepositoryIdentity()))
    )
    assert (found.project_id, found.former_ids) == ("q", ("p",))
