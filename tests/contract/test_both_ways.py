"""Searches by words and by meaning in one request: they find what each finds by itself."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from ragforge.domain.code import CodeFilter
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.notes import NoteFilter
from ragforge.domain.schema import CONVERSATION, MESSAGE_PLACE, NOTE, PROJECT, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.errors import ConversationNotFound
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    conversation,
    direction,
    parsed,
    project,
    scope,
    user,
)
from tests.fakes.code import embed_scopes, find_by_words, find_nearest
from tests.fakes.rich import fill

VECTOR = direction(1)


async def test_both_ways_find_what_each_finds_by_itself(store: Store) -> None:
    rich = await fill(store)
    code, anywhere = store.code, MemoryFilter()

    turns, near = await store.index.match_turns("zebra", anywhere, 9, 2, VECTOR, 9)
    assert turns == (await store.index.match_turns("zebra", anywhere, 9, 2))[0]
    assert near == (await store.index.search(TURN, "", VECTOR, anywhere, 9, read=0)).by_vector
    search = store.index.search
    for kind, where in ((SUMMARY, SummaryFilter()), (NOTE, NoteFilter()), (TURN, anywhere)):
        matched, nearest, read = await search(kind, "zebra", VECTOR, where, 9)
        assert matched
        assert matched == (await search(kind, "zebra", None, where, 9)).by_words
        assert nearest == (await search(kind, "", VECTOR, where, 9)).by_vector
        ids = [match.id for match in (*matched, *nearest)]
        get = store.timeline.turns if kind is TURN else partial(store.records.get_many, kind)
        assert read == await get(ids)
    where = CodeFilter(rich.shop.uuid)
    found = await code.search("zebras", VECTOR, where, 9)
    assert found.by_words == await find_by_words(store, "zebras", where, 9)
    assert found.by_vector == await find_nearest(store, VECTOR, where, 9)
    files = [match.scope.file for match in (*found.by_words, *found.by_vector)]
    assert found.importers == await code.importers(rich.shop.uuid, files)
    assert not found.inside


async def test_scopes_are_found_in_the_files_that_are_nearest(store: Store) -> None:
    code, where, wholes = store.code, CodeFilter("p"), CodeFilter("p", types=("module",))
    await store.records.put(PROJECT, project("/work/shop", uuid="p"))
    files = [
        parsed(
            f"{name}.py",
            scope(name, type="module", uuid=name),
            scope(f"feed_{name}", uuid=f"{name} 1"),
            scope(f"count_{name}", uuid=f"{name} 2"),
        )
        for name in ("zebras", "okapis")
    ]
    await code.replace_files("p", files)
    near, far = direction(1), direction(3)
    vectors = {"zebras": near, "zebras 1": far, "zebras 2": near, "okapis": far, "okapis 1": near}
    await embed_scopes(store, vectors)
    for words in ("zebras", ""):
        found = await code.search(words, near, where, 9, wholes, 1, inside=9)
        assert [match.scope.uuid for match in found.by_vector] == ["zebras"]
        assert {match.scope.uuid for match in found.inside} == {"zebras", "zebras 1", "zebras 2"}
        in_it = replace(where, files=("zebras.py",))
        assert found.inside == await find_nearest(store, near, in_it, 9)
    assert not (await code.search("zebras", None, where, 9, wholes, 9, 9)).inside


async def test_without_a_vector_only_words_are_searched(store: Store) -> None:
    await fill(store)
    turns, near = await store.index.match_turns("zebra", MemoryFilter(), 9, 2, None, 9)
    assert turns.matches
    assert near == []
    matched, nearest, read = await store.index.search(NOTE, "zebra", None, NoteFilter(), 9)
    assert {match.id for match in matched} == set(read)
    assert nearest == []


async def test_turns_are_read_with_the_ids_of_their_conversations(store: Store) -> None:
    rich = await fill(store)
    owned = await store.timeline.turns(rich.turn_ids)
    places = await store.records.get_many(MESSAGE_PLACE, list(owned))
    assert {turn: one.conversation_id for turn, one in owned.items()} == {
        turn: place.conversation_id for turn, place in places.items()
    }


async def test_the_end_of_a_conversation_is_read_at_once(store: Store) -> None:
    await fill(store)
    talks = store.timeline
    for talk in await store.records.find(CONVERSATION, ConversationFilter()):
        found = await talks.recent_past(talk.uuid, 3, 2)
        said = await talks.messages(talk.uuid, limit=3, newest=True)
        assert found.messages == [replace(message, receipt=None) for message in said]
        receipts = [one.receipt for one in await talks.messages(talk.uuid) if one.receipt]
        assert found.receipt == (receipts[-1] if receipts else None)
        assert len(found.summaries) <= 2
    with pytest.raises(ConversationNotFound):
        await talks.recent_past("nobody's", 3, 2)


async def test_turns_found_by_words_are_read_at_once(store: Store) -> None:
    await fill(store)
    anywhere, search = MemoryFilter(), store.index.search
    alone = (await store.index.search(TURN, "zebra", None, anywhere, 9, read=0)).by_words
    assert len(alone) > 1
    for limit, read in ((9, 9), (9, 1), (1, 9), (9, 0)):
        found, _, turns = await search(TURN, "zebra", None, anywhere, limit, read=read)
        assert found == alone[:limit]
        assert turns == await store.timeline.turns([match.id for match in found[:read]])
    assert await search(TURN, "", None, anywhere, 9) == ([], [], {})


async def test_the_turn_before_each_turn_is_read(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="talk"))
    said = [message for n in range(3) for message in (user(f"ask {n}"), assistant(f"say {n}"))]
    first, _, second, _, third, _ = await store.timeline.append("talk", said)

    before = await store.timeline.turns([third.uuid, first.uuid, second.uuid, "none"], back=1)

    texts = {
        turn: [message.content for message in found.messages] for turn, found in before.items()
    }
    assert texts == {second.uuid: ["ask 0", "say 0"], third.uuid: ["ask 1", "say 1"]}


async def test_the_end_of_a_conversation_has_the_summaries_that_no_other_covers(
    store: Store,
) -> None:
    await fill(store)
    for talk in {one.conversation_id for one in await store.records.find(SUMMARY, SummaryFilter())}:
        inside = await store.records.find(SUMMARY, SummaryFilter(talk, outside_level_2=True))
        level_2 = await store.records.find(SUMMARY, SummaryFilter(talk, level=2))
        outermost = (await store.timeline.recent_past(talk, 0, 99)).summaries
        assert {one.uuid for one in outermost} == {one.uuid for one in (*inside, *level_2)}
        end = await store.timeline.recent_past(talk, 0, 1, 9)
        assert end.summaries == outermost[-1:]
        below = level_2[-1].parent_summaries if level_2 else ()
        covered = (await store.records.get_many(SUMMARY, below)).values()
        assert end.stretches == sorted(one.start_turn_index for one in covered)
