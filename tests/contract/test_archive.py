"""The archive: all facts as plain records, page by page."""

from __future__ import annotations

import pytest

from ragforge.domain.schema import CONVERSATION
from ragforge.errors import InvalidVector
from ragforge.ports.store import Store, list_record_kinds
from tests.fakes.builders import conversation, user
from tests.fakes.copying import in_pages, read_bookmark, records, set_bookmark
from tests.fakes.engines import counts
from tests.fakes.rich import Rich, fill

REPOSITORIES = ("conversation", "note", "checkout", "project")
EXPECTED = {
    "conversation": 3,
    "message": 7 + 1 + 6,
    "tool_call": 3 + 3,
    "tool_result": 2 + 2,
    "summary": 3,
    "note": 3,
    "usage": 2,
    "checkout": 2,
    "project": 2,
    "file": 5,
    "scope": 7,
    "relation": 5,
    "reference": 3 + 3,
    "mention": 4,
    "branch": 1,
    "vector": 2
    + 1
    + 2
    + 1
    + 1
    + 2
    + 2
    + 2,  # turns, a passage, copies, a bill, a conversation, L1 + L2, scopes, notes
    "job": 4,
    "forgotten": 2,
}
PLAIN = (str, int, float, bool, bytes, type(None))


@pytest.fixture
async def rich(store: Store) -> Rich:
    return await fill(store)


async def test_every_kind_of_fact_is_counted(store: Store, rich: Rich) -> None:
    assert await counts(store) == EXPECTED


async def test_an_empty_store_has_no_records(store: Store) -> None:
    for kind in list_record_kinds():
        assert await store.archive.count(kind) == 0
        assert await store.archive.read(kind, None, 10) == []


async def test_records_are_plain_and_complete(store: Store, rich: Rich) -> None:
    for kind in list_record_kinds():
        found = await records(store, kind)
        assert len(found) == await store.archive.count(kind), kind
        for record in found:
            for value in record.values():
                items = value if isinstance(value, list) else [value]
                assert all(type(item) in PLAIN for item in items), record


async def test_pages_follow_each_other_without_gaps(store: Store, rich: Rich) -> None:
    for kind in list_record_kinds():
        whole = await store.archive.read(kind, None, 1_000)
        paged = [item async for page in in_pages(store, kind, 2) for item in page]
        assert paged == whole, kind
        cursors = [cursor for cursor, _ in whole]
        assert len(set(cursors)) == len(cursors), kind
        assert await store.archive.read(kind, cursors[-1], 10) == [], kind


async def test_a_cursor_stays_valid_between_readings(store: Store, rich: Rich) -> None:
    for kind in list_record_kinds():
        first, *rest = await store.archive.read(kind, None, 1_000)
        assert await store.archive.read(kind, None, 1_000) == [first, *rest], kind
        assert await store.archive.read(kind, first[0], 1_000) == rest, kind


async def test_facts_that_arrive_while_reading_do_not_disturb_the_pages(
    store: Store, rich: Rich
) -> None:
    before = await store.archive.read("message", None, 1_000)
    half = before[: len(before) // 2]

    await store.records.put(CONVERSATION, conversation(uuid="new"))
    await store.timeline.append("new", [user() for _ in range(5)])
    rest = await store.archive.read("message", half[-1][0], 1_000)

    read = [record["uuid"] for _, record in half + rest]
    assert len(set(read)) == len(read)
    assert {record["uuid"] for _, record in before} <= set(read)


async def test_each_record_refers_only_to_earlier_ones(store: Store, rich: Rich) -> None:
    known: set[object] = set()
    for kind in list_record_kinds():
        for record in await records(store, kind):
            owners = ("conversation_id", "message_id", "tool_call_id", "project_id", "file_id")
            for name in owners:
                if name == "project_id" and kind in REPOSITORIES:
                    continue  # of the repository, which is not a record
                if kind not in ("mention", "branch") and record.get(name) is not None:
                    assert record[name] in known, (kind, name)
            parents = record.get("parent_summaries", [])
            assert isinstance(parents, list)
            assert set(parents) <= known
            known.add(record.get("uuid"))


async def test_locks_stay_behind(store: Store, rich: Rich) -> None:
    assert (await store.locks.held(["ingestion"])).get("ingestion") is not None
    for kind in list_record_kinds():
        for record in await records(store, kind):
            assert "token of another host" not in map(str, record.values())


async def test_bookmarks_are_kept_changed_and_removed(store: Store) -> None:
    assert await read_bookmark(store, "copy") is None

    await set_bookmark(store, "copy", "message:12")
    await set_bookmark(store, "other", "")
    assert await read_bookmark(store, "copy") == "message:12"
    assert await read_bookmark(store, "other") == ""
    assert await read_bookmark(store, "Copy") is None

    await set_bookmark(store, "copy", "é\x00'\"")
    assert await read_bookmark(store, "copy") == "é\x00'\""
    await set_bookmark(store, "copy", None)
    await set_bookmark(store, "never there", None)
    assert await read_bookmark(store, "copy") is None
    assert await read_bookmark(store, "other") == ""


async def test_bookmarks_are_not_facts(store: Store) -> None:
    await set_bookmark(store, "copy", "x")
    assert set((await counts(store)).values()) == {0}


async def test_records_of_several_kinds_are_written_together_or_not_at_all(
    store: Store, rich: Rich
) -> None:
    bundle = dict(await store.archive.conversation(rich.cart.uuid))
    cart = await store.records.get(CONVERSATION, rich.cart.uuid)
    await store.records.delete(CONVERSATION, cart.uuid)
    before = await counts(store)
    bad = {**bundle["vector"][0], "data": b"\0" * 8, "owner_kind": "turn", "owner_id": "turn-0"}

    with pytest.raises(InvalidVector):
        await store.archive.write({**bundle, "vector": [bad]})
    assert await counts(store) == before

    await store.archive.write({**bundle, "bookmark": [{"name": "copy", "value": "1"}]})
    assert await store.records.get(CONVERSATION, cart.uuid) == cart
    assert await read_bookmark(store, "copy") == "1"


async def test_the_records_of_a_conversation_are_those_of_the_store(
    store: Store, rich: Rich
) -> None:
    talks = [record["uuid"] for record in await records(store, "conversation")]
    bundles = [await store.archive.conversation(str(talk)) for talk in talks]
    for kind in bundles[0]:
        found = {repr(sorted(row.items())) for bundle in bundles for row in bundle[kind]}
        stored = {repr(sorted(row.items())) for row in await records(store, kind)}
        assert found <= stored, kind
        if kind not in ("note", "vector"):  # some are not of a conversation
            assert found == stored, kind
