"""Deletion: what was derived from a thing goes with it, everywhere."""

from __future__ import annotations

import pytest

from ragforge.domain.code import CodeFilter
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.schema import CONVERSATION, MESSAGE_PLACE, NOTE, PROJECT, SCOPE, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.ports.store import Store
from tests.fakes.builders import direction, user, vector
from tests.fakes.code import (
    find_by_words,
    find_nearest,
    list_directories,
    list_files,
    list_scopes,
    relations_of,
)
from tests.fakes.engines import counts
from tests.fakes.rich import Rich, fill, fill_facts

WORDS = "zebra cart turns pay 修复数据库 elephant install upgrade total add"


@pytest.fixture
async def rich(store: Store) -> Rich:
    return await fill(store)


async def found(store: Store) -> set[str]:
    """Return the ids that any search over anything finds."""
    code_query = vector(1, 1, 0, model="code-model")
    matches = [
        *(await store.index.search(TURN, WORDS, None, MemoryFilter(), 99, read=0)).by_words,
        *(await store.index.search(TURN, "", direction(0), MemoryFilter(), 99, read=0)).by_vector,
        *(
            await store.index.search(CONVERSATION, "", direction(0), ConversationFilter(), 99)
        ).by_vector,
        *(await store.index.search(SUMMARY, WORDS, None, SummaryFilter(), 99)).by_words,
        *(await store.index.search(SUMMARY, "", direction(0), SummaryFilter(), 99)).by_vector,
        *await find_by_words(store, WORDS, CodeFilter(), 99),
        *await find_by_words(store, WORDS, CodeFilter(sections=True), 99),
        *await find_nearest(store, code_query, CodeFilter(), 99),
    ]
    return {match.id for match in matches}


async def test_everything_is_found_before_it_is_deleted(store: Store, rich: Rich) -> None:
    ids = await found(store)
    wanted = {"cart", "turn-0", "turn-1", "turn-2", "bill-0", "l1-0", "l1-1", "l2"}
    assert wanted | {"Cart", "Cart.add", "total"} <= ids


async def test_a_deleted_conversation_leaves_nothing_behind(store: Store, rich: Rich) -> None:
    await store.records.delete(CONVERSATION, "branch")
    before = await found(store)

    await store.records.delete(CONVERSATION, "cart")

    left = await counts(store)
    for kind in ("tool_call", "tool_result", "summary", "reference", "mention", "branch"):
        assert left[kind] == 0, kind
    assert (left["conversation"], left["message"]) == (1, 1)
    assert left["vector"] == 5  # a bill, two scopes and two notes, which stay
    gone = {"cart", "turn-0", "turn-1", "turn-2", "l1-0", "l1-1", "l2"}
    assert await found(store) == before - gone
    assert await store.timeline.turns(rich.turn_ids) == {}
    assert await store.timeline.touches(files=["src/cart.py"]) == []
    assert await store.records.get_many(MESSAGE_PLACE, ["turn-0", "step-0"]) == {}


async def test_a_deleted_summary_leaves_nothing_behind(store: Store, rich: Rich) -> None:
    before, was = await counts(store), await found(store)

    await store.records.delete(SUMMARY, "l1-0")

    left = await counts(store)
    assert before["summary"] - left["summary"] == 2
    assert before["vector"] - left["vector"] == 2
    assert left["mention"] == 0
    assert left["message"] == before["message"]
    assert await found(store) == was - {"l1-0", "l2"}


async def test_a_removed_file_leaves_nothing_behind(store: Store, rich: Rich) -> None:
    before, was = await counts(store), await found(store)

    await store.code.remove_files("shop", ["src/cart.py"])

    left = await counts(store)
    assert before["file"] - left["file"] == 1
    assert before["scope"] - left["scope"] == 3
    assert before["vector"] - left["vector"] == 2
    assert left["relation"] == 0
    assert await found(store) == was - {"Cart", "Cart.add", "total"}
    assert await store.records.get_many(SCOPE, ["Cart", "Cart.add", "total"]) == {}
    assert await relations_of(store, "numpy", "in") == []


async def test_a_deleted_project_leaves_nothing_behind(store: Store, rich: Rich) -> None:
    before = await counts(store)

    await store.records.delete(PROJECT, "shop")

    left = await counts(store)
    assert (left["project"], left["file"], left["scope"]) == (1, 1, 1)
    assert left["relation"] == 0
    assert before["vector"] - left["vector"] == 2
    assert await list_files(store, "shop") == []
    assert await list_directories(store, "shop") == []
    assert await find_by_words(store, WORDS, CodeFilter("shop"), 9) == []
    assert await find_by_words(store, WORDS, CodeFilter("shop", sections=True), 9) == []
    assert await list_scopes(store, "bank", "src/cart.py") != []
    for kind in ("conversation", "message", "summary", "reference", "mention"):
        assert left[kind] == before[kind], kind


async def test_what_is_deleted_can_be_stored_again(store: Store, rich: Rich) -> None:
    for name in ("branch", "cart", "billing"):
        await store.records.delete(CONVERSATION, name)
    for name in ("shop", "bank"):
        await store.records.delete(PROJECT, name)
    for name in ("zz-old", "aa-new", "bank-note"):  # a project's own: they outlive the others
        await store.records.delete(NOTE, name)
    left = await counts(store)
    assert {kind: number for kind, number in left.items() if number} == {
        "checkout": 2,  # where a project lies is not part of what was said or read there
        "job": 4,
        "forgotten": 4,  # of sessions that another agent had: an import does not bring them back
    }
    assert await found(store) == set()

    await fill_facts(store)

    assert await store.timeline.turns(rich.turn_ids) != {}
    assert {"turn-0", "l2", "Cart"} <= await found(store)


async def test_vectors_of_the_deleted_do_not_come_back_with_new_owners(
    store: Store, rich: Rich
) -> None:
    """Row numbers may be reused; what they referred to must not be."""
    assert (await store.index.search(TURN, "", direction(0), MemoryFilter(), 9, read=0)).by_vector
    for name in ("branch", "cart", "billing"):
        await store.records.delete(CONVERSATION, name)

    await fill_without_vectors(store, rich)

    assert (
        await store.index.search(TURN, "", direction(0), MemoryFilter(), 9, read=0)
    ).by_vector == []
    everywhere = ConversationFilter()
    assert (await store.index.search(CONVERSATION, "", direction(0), everywhere, 9)).by_vector == []


async def fill_without_vectors(store: Store, rich: Rich) -> None:
    await store.records.put(CONVERSATION, rich.cart)
    await store.timeline.append("cart", [user() for _ in range(5)])
