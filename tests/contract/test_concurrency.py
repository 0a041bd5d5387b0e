"""Concurrency: many operations at once, in one process and in several stores on the same data."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.notes import Note
from ragforge.domain.schema import CONVERSATION, JOB, NOTE, PROJECT, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.work import NewJob
from ragforge.errors import ConversationNotFound, DuplicateId, TurnNotFound
from ragforge.ports.store import Store
from tests.conftest import Reopen
from tests.fakes.builders import (
    assistant,
    conversation,
    direction,
    exchange,
    note,
    parsed,
    project,
    scope,
    summary,
    user,
)
from tests.fakes.code import list_directories, list_files
from tests.fakes.coverage import list_covered


async def check_order(store: Store, conversation_id: str, appends: int) -> None:
    """Check that this many questions with their answers are in order and none is lost."""
    messages = await store.timeline.messages(conversation_id)
    assert [m.position for m in messages] == list(range(2 * appends))
    turns = [m.turn_index for m in messages]
    assert turns == [i // 2 for i in range(2 * appends)]
    for question, answer in zip(messages[::2], messages[1::2], strict=True):
        assert answer.content == f"answer to {question.content}"
    counted = await store.records.get(CONVERSATION, conversation_id)
    assert (counted.message_count, counted.turn_count) == (2 * appends, appends)
    assert counted.total_chars == sum(m.char_count for m in messages)


async def test_twenty_appends_at_once_keep_their_order(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))

    await asyncio.gather(
        *(store.timeline.append("c", exchange(f"q{i}", f"answer to q{i}")) for i in range(20))
    )

    await check_order(store, "c", 20)


async def test_two_stores_on_the_same_data_append_at_once(store: Store, reopen: Reopen) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    stores = [store, await reopen()]

    await asyncio.gather(
        *(
            stores[i % 2].timeline.append("c", exchange(f"q{i}", f"answer to q{i}"))
            for i in range(30)
        )
    )

    for one in stores:
        await check_order(one, "c", 30)


async def test_appends_to_many_conversations_do_not_mix(store: Store) -> None:
    names = [f"c{i}" for i in range(8)]
    for name in names:
        await store.records.put(CONVERSATION, conversation(uuid=name))

    await asyncio.gather(
        *(
            store.timeline.append(name, exchange(f"{name}.{i}", f"answer to {name}.{i}"))
            for i in range(5)
            for name in names
        )
    )

    for name in names:
        await check_order(store, name, 5)


async def test_one_id_that_is_created_by_two_at_once_is_created_once(
    store: Store, reopen: Reopen
) -> None:
    stores = [store, await reopen()]
    tries = [
        stores[i % 2].records.put(CONVERSATION, conversation(uuid="c", title=f"{i}"))
        for i in range(6)
    ]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)

    assert [type(outcome) for outcome in outcomes if outcome is not None] == [DuplicateId] * 5
    winner = outcomes.index(None)
    assert (await store.records.get(CONVERSATION, "c")).title == f"{winner}"


async def test_one_message_that_is_appended_by_two_at_once_is_stored_once(
    store: Store, reopen: Reopen
) -> None:
    stores = [store, await reopen()]
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    message = user("once", uuid="m")

    outcomes = await asyncio.gather(
        *(stores[i % 2].timeline.append("c", [message]) for i in range(4)),
        return_exceptions=True,
    )

    assert sum(isinstance(outcome, DuplicateId) for outcome in outcomes) == 3
    assert [m.content for m in await store.timeline.messages("c")] == ["once"]
    assert (await store.records.get(CONVERSATION, "c")).message_count == 1


async def test_one_summary_that_is_saved_by_two_at_once_is_stored_once(
    store: Store, reopen: Reopen
) -> None:
    stores = [store, await reopen()]
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [user() for _ in range(4)])

    await asyncio.gather(
        *(stores[i % 2].timeline.save_summary(summary("c", 0, 2, uuid="s")) for i in range(6))
    )

    assert [s.uuid for s in await store.records.find(SUMMARY, SummaryFilter())] == ["s"]
    assert await list_covered(store, "s") == [0, 1, 2]


async def test_overlapping_summaries_that_are_saved_at_once_share_no_turn(
    store: Store, reopen: Reopen
) -> None:
    stores = [store, await reopen()]
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [user() for _ in range(6)])

    names = [f"s{i}" for i in range(6)]
    await asyncio.gather(
        *(
            stores[i % 2].timeline.save_summary(summary("c", 0, 5, uuid=name))
            for i, name in enumerate(names)
        )
    )

    covered = [turn for name in names for turn in await list_covered(store, name)]
    assert sorted(covered) == [0, 1, 2, 3, 4, 5]


async def test_changes_of_one_note_at_once_are_all_kept(store: Store, reopen: Reopen) -> None:
    await store.records.put(NOTE, note("Zebras.", uuid="n", tags=()))
    stores = [store, await reopen()]

    def add(tag: str) -> Callable[[Note], Note]:
        return lambda known: replace(known, tags=(*known.tags, tag))

    tags = [f"t{number}" for number in range(12)]
    await asyncio.gather(
        *(stores[n % 2].records.update(NOTE, "n", add(tag)) for n, tag in enumerate(tags))
    )

    assert sorted((await store.records.get(NOTE, "n")).tags) == sorted(tags)


async def test_one_job_that_is_enqueued_by_two_at_once_is_one_job(
    store: Store, reopen: Reopen
) -> None:
    stores = [store, await reopen()]
    added = await asyncio.gather(
        *(stores[i % 2].jobs.enqueue([NewJob("k", "embed", i)]) for i in range(8))
    )
    assert sorted(added) == [0] * 7 + [1]
    assert (await store.records.get(JOB, "k")).payload == added.index(1)


async def test_one_project_path_that_is_saved_by_two_at_once_is_saved_once(
    store: Store, reopen: Reopen
) -> None:
    stores = [store, await reopen()]
    outcomes = await asyncio.gather(
        *(stores[i % 2].records.put(PROJECT, project(uuid=f"p{i}")) for i in range(6)),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, DuplicateId) for outcome in outcomes) == 5
    assert await store.archive.count("project") == 1


async def test_files_that_are_replaced_at_once_are_all_there(store: Store, reopen: Reopen) -> None:
    stores = [store, await reopen()]
    await store.records.put(PROJECT, project(uuid="p"))
    paths = [f"src/d{i % 3}/f{i}.py" for i in range(12)]

    await asyncio.gather(
        *(
            stores[i % 2].code.replace_files("p", [parsed(path, scope(f"f{i}"))])
            for i, path in enumerate(paths)
        )
    )

    assert [f.path for f in await list_files(store, "p")] == sorted(paths)
    directories = [d.path for d in await list_directories(store, "p")]
    assert directories == ["src", "src/d0", "src/d1", "src/d2"]


async def test_what_one_store_writes_the_other_finds_at_once(store: Store, reopen: Reopen) -> None:
    other = await reopen()
    everywhere = MemoryFilter()
    talk = store.timeline
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    for i in range(3):
        await talk.append("c", [user("zebra", uuid=f"t{i}")])
        await store.index.embed(TURN, {f"t{i}": direction(10 * i)})
        by_vector = (
            await other.index.search(TURN, "", direction(0), everywhere, 9, read=0)
        ).by_vector
        assert [match.id for match in by_vector] == [f"t{j}" for j in range(i + 1)]
        assert (
            len((await other.index.search(TURN, "zebra", None, everywhere, 9, read=0)).by_words)
            == i + 1
        )

    await other.index.embed(TURN, {"t2": direction(0), "t0": direction(2)})
    found = (await store.index.search(TURN, "", direction(0), everywhere, 9, read=0)).by_vector
    assert (found[0].id, len(found)) == ("t2", 3)
    await other.records.delete(CONVERSATION, "c")
    assert (await store.index.search(TURN, "", direction(0), everywhere, 9, read=0)).by_vector == []
    assert await store.records.find(CONVERSATION, ConversationFilter()) == []


async def test_searches_during_writes_find_only_what_is_there(store: Store) -> None:
    names = [f"t{i}" for i in range(40)]
    for name in names:
        await store.records.put(CONVERSATION, conversation(uuid=f"of {name}"))
        await store.timeline.append(f"of {name}", [user("zebra", uuid=name)])
    await store.index.embed(TURN, {name: direction(i) for i, name in enumerate(names)})

    async def write() -> None:
        for i in range(0, 40, 2):
            await store.records.delete(CONVERSATION, f"of t{i}")

    async def search() -> None:
        for _ in range(15):
            by_vector = (
                await store.index.search(TURN, "", direction(0), MemoryFilter(), 50, read=0)
            ).by_vector
            by_words = (
                await store.index.search(TURN, "zebra", None, MemoryFilter(), 50, read=0)
            ).by_words
            for found in (by_vector, by_words):
                ids = [match.id for match in found]
                assert set(names[1::2]) <= set(ids) <= set(names)
                assert len(set(ids)) == len(ids)

    await asyncio.gather(write(), search(), search())

    left = (await store.index.search(TURN, "", direction(0), MemoryFilter(), 50, read=0)).by_vector
    assert [match.id for match in left] == names[1::2]


async def test_a_deletion_and_an_append_at_once_leave_no_orphans(
    store: Store, reopen: Reopen
) -> None:
    other = await reopen()
    for i in range(4):
        name = f"c{i}"
        await store.records.put(CONVERSATION, conversation(uuid=name))
        await store.timeline.append(name, [user()])
        outcomes = await asyncio.gather(
            store.records.delete(CONVERSATION, name),
            other.timeline.append(name, [assistant("late", turn_index=0)]),
            return_exceptions=True,
        )
        assert outcomes[0] is None
        expected = list | ConversationNotFound | TurnNotFound
        assert isinstance(outcomes[1], expected), outcomes[1]

    assert await store.archive.count("message") == 0
