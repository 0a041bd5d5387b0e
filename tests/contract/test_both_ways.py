"""Searches by words and by meaning in one request: they find what each finds alone."""

from __future__ import annotations

from ragforge.domain.code import CodeFilter
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.notes import NoteFilter
from ragforge.domain.summaries import SummaryFilter
from ragforge.ports.store import Store
from tests.fakes.builders import direction
from tests.fakes.rich import fill

VECTOR = direction(1)


async def test_both_ways_find_what_each_finds_alone(store: Store) -> None:
    rich = await fill(store)
    talks, code, anywhere = store.conversations, store.code, MemoryFilter()

    turns, near = await talks.match_turns("zebra", anywhere, 9, 2, VECTOR, 9)
    assert turns == await talks.match_words("zebra", anywhere, 9, 2)
    assert near == await talks.turns_by_vector(VECTOR, anywhere, 9)
    for port, where in ((store.summaries, SummaryFilter()), (store.notes, NoteFilter())):
        matched, nearest, read = await port.by_words_and_vector("zebra", VECTOR, where, 9)
        assert matched == await port.by_words("zebra", where, 9)
        assert nearest == await port.by_vector(VECTOR, where, 9)
        assert read == await port.with_ids([match.id for match in (*matched, *nearest)])
    where = CodeFilter(rich.shop.uuid)
    found = await code.by_words_and_vector("zebras", where, 9, VECTOR, where, 9)
    assert list(found.by_words) == await code.by_words("zebras", where, 9)
    assert list(found.by_vector) == await code.by_vector(VECTOR, where, 9)
    files = [match.scope.file for match in (*found.by_words, *found.by_vector)]
    assert found.importers == await code.importers(rich.shop.uuid, files)


async def test_without_a_vector_words_alone_are_searched(store: Store) -> None:
    await fill(store)
    turns, near = await store.conversations.match_turns("zebra", MemoryFilter(), 9, 2, None, 9)
    assert turns.matches
    assert near == []
    matched, nearest, read = await store.notes.by_words_and_vector("zebra", None, NoteFilter(), 9)
    assert {match.id for match in matched} == set(read)
    assert nearest == []


async def test_turns_are_read_with_the_ids_of_their_conversations(store: Store) -> None:
    rich = await fill(store)
    owned = await store.conversations.owned_turns(rich.turn_ids)
    assert {turn: read for turn, (_, read) in owned.items()} == await store.conversations.turns(
        rich.turn_ids
    )
    owners = await store.conversations.conversations_of(list(owned))
    assert {turn: owner for turn, (owner, _) in owned.items()} == owners


async def test_the_outermost_summaries_are_those_that_no_other_covers(store: Store) -> None:
    await fill(store)
    for talk in {one.conversation_id for one in await store.summaries.find(SummaryFilter())}:
        inside = await store.summaries.not_in_level_2(talk)
        level_2 = await store.summaries.find(SummaryFilter(talk, level=2))
        outermost = await store.summaries.outermost(talk)
        assert {one.uuid for one in outermost} == {one.uuid for one in (*inside, *level_2)}
        assert await store.summaries.outermost(talk, 1) == outermost[-1:]
