"""Long conversations: turns become short-term summaries, and those long-term ones."""

from __future__ import annotations

import asyncio
import json
import os
import random
from dataclasses import replace
from datetime import timedelta

import pytest

from ragforge.adapters.stores.holders import describe_process, this_host
from ragforge.domain.chat import ChatRequest
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.instants import now
from ragforge.domain.schema import CONVERSATION, SUMMARY
from ragforge.domain.summaries import SummaryFilter
from ragforge.errors import ModelUnavailable
from ragforge.jobs import worker
from ragforge.memory.search.combined import search_conversation_history
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from tests.fakes.builders import assistant, summary, tool_call, user
from tests.fakes.coverage import list_covered
from tests.fakes.projects import ToyEmbedder
from tests.fakes.remembering import check_levels, memory_of, turn_of
from tests.fakes.scripted_model import ScriptedModel, last_words

LONG = "word " * 500  # 2,500 characters: a short-term summary by itself


def draft(request: ChatRequest) -> str:
    """Answer as a model that was asked for a summary."""
    turns = [line for line in last_words(request).splitlines() if line.startswith("[turn")]
    told = f"It was about {', '.join(turns)}. ".ljust(180, ".")
    return json.dumps(
        {"conversation_summary": told, "key_findings": [f"{len(turns)} parts"], "topics": ["cart"]}
    )


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries come at once."""
    monkeypatch.setattr(worker, "FIRST_RETRY", timedelta(milliseconds=1))


@pytest.mark.parametrize(
    ("by_model", "seed"), [(True, 1), (False, 2)], ids=["with a model", "without a model"]
)
async def test_two_hundred_turns_give_the_summaries_that_the_thresholds_ask_for(
    store: Store, by_model: bool, seed: int
) -> None:
    chance = random.Random(seed)
    model = ScriptedModel(draft) if by_model else None
    memory = memory_of(store, model)
    talk = await memory.start()

    for number in range(200):
        await memory.recorder.store_turn(talk, turn_of(chance, number))
        if chance.random() < 0.2:
            await memory.worker.drain()
    await memory.worker.drain()

    first, second = await check_levels(memory, await store.records.get(CONVERSATION, talk))
    assert len(first) > 10
    assert len(second) > 2
    by = "scripted:model" if by_model else "extractive"
    assert {summary.made_by for summary in [*first, *second]} == {by}
    assert (await store.records.get(CONVERSATION, talk)).summary
    assert (await store.jobs.count()).by_status["dead"] == 0
    if model is not None:
        assert len(model.asked) == len(first) + len(second)  # each was made once


async def test_an_early_turn_is_found_again_after_it_was_summarised(store: Store) -> None:
    memory = memory_of(store, embedder=ToyEmbedder())
    talk = await memory.start()
    await memory.say(talk, "The zebra crossing id is 4711.", "Noted.")
    for number in range(30):
        await memory.say(talk, f"Question {number}", LONG[:900])
    await memory.worker.drain()

    await check_levels(memory, await store.records.get(CONVERSATION, talk))
    recall = MemorySearch(store, None)
    found = await search_conversation_history(recall, "zebra crossing", MemoryFilter(), levels=(0,))
    [hit, *_] = found
    assert hit.type == "turn"
    assert hit.turn.user.turn_index == 0
    assert await store.index.pending(SUMMARY, ToyEmbedder().name, 10) == []


async def test_a_single_turn_over_the_threshold_is_summarised_by_itself(store: Store) -> None:
    memory = memory_of(store)
    talk = await memory.start()
    await memory.say(talk, "Say a lot.", LONG * 20)
    await memory.worker.drain()

    [only] = await store.records.find(SUMMARY, SummaryFilter(talk))
    assert (only.start_turn_index, only.end_turn_index) == (0, 0)
    assert only.summary_char_count < 2_000


async def test_below_the_threshold_nothing_happens(store: Store) -> None:
    memory = memory_of(store)
    talk = await memory.start()
    await memory.say(talk, "Short?", "Short.")
    await memory.worker.drain()
    assert await store.records.find(SUMMARY, SummaryFilter(talk)) == []


async def test_a_question_without_its_answer_waits(store: Store) -> None:
    """As an older version stores it, which does not say who is to answer."""
    memory = memory_of(store)
    talk = await memory.start()
    asked = await memory.recorder.record_question(talk, LONG)
    assert await memory.condenser.enqueue_due(talk) == 0

    await memory.recorder.record_answer(talk, asked.turn_index, "Yes.")
    assert await memory.condenser.enqueue_due(talk) == 1


async def test_a_turn_that_another_terminal_is_answering_is_not_cut_off(store: Store) -> None:
    memory = memory_of(store)
    talk = await memory.start()
    recorder = replace(memory.recorder, process=describe_process())
    asked = await recorder.record_question(talk, LONG)
    await recorder.record_answer(talk, asked.turn_index, "Let me look.", tool_calls=[tool_call()])
    await memory.say(talk, "And this, from here?", LONG)
    await memory.worker.drain()
    assert await store.records.find(SUMMARY, SummaryFilter(talk)) == []

    await recorder.record_answer(talk, asked.turn_index, "There it is.")
    await recorder.end_turn(talk, asked.uuid)
    await memory.worker.drain()
    found = await store.records.find(SUMMARY, SummaryFilter(talk, level=1))
    assert [one.start_turn_index for one in found] == [0, 1]


@pytest.mark.parametrize("silent_for", [timedelta(), timedelta(hours=2)])
async def test_a_question_that_never_got_an_answer_holds_nothing_up(
    store: Store, silent_for: timedelta
) -> None:
    memory = memory_of(store)
    talk = await memory.start()
    asked = now() - silent_for
    gone = f"{this_host()} {os.getpid()} 1.0"  # one that had our number before us
    alive = describe_process()
    process = alive if silent_for else gone
    await store.timeline.append(talk, [user(LONG, timestamp=asked, process=process)])
    await memory.recorder.store_turn(talk, [user("Is somebody there?", timestamp=now())])
    await memory.worker.drain()
    [found] = await store.records.find(SUMMARY, SummaryFilter(talk))
    assert (found.start_turn_index, found.end_turn_index) == (0, 0)


async def test_a_turn_that_was_stored_without_an_answer_holds_nothing_up(store: Store) -> None:
    memory = memory_of(store)
    talk = await memory.start()
    await memory.recorder.store_turn(talk, [user(LONG, timestamp=now())])
    await memory.worker.drain()
    assert len(await store.records.find(SUMMARY, SummaryFilter(talk))) == 1


async def test_a_model_that_fails_for_a_while_leaves_the_turns_and_is_tried_again(
    store: Store,
) -> None:
    failing = [ModelUnavailable("away")] * 2

    def script(request: ChatRequest) -> str | Exception:
        return failing.pop() if failing else draft(request)

    memory = memory_of(store, ScriptedModel(script))
    talk = await memory.start()
    await memory.say(talk, "Long?", LONG)
    await memory.worker.drain()
    for _ in range(4):
        await asyncio.sleep(0.02)
        await memory.worker.drain()

    assert len(await store.records.find(SUMMARY, SummaryFilter(talk))) == 1


async def test_a_model_that_never_says_anything_readable_harms_nothing(store: Store) -> None:
    memory = memory_of(store, ScriptedModel(lambda _: "I would rather not."), attempts=2)
    talk = await memory.start()
    await memory.say(talk, "Long?", LONG)
    for _ in range(4):
        await memory.worker.drain()
        await asyncio.sleep(0.02)

    assert await store.records.find(SUMMARY, SummaryFilter(talk)) == []
    assert (await store.jobs.count()).by_status["dead"] == 1
    assert [t.turn_index for t in await store.timeline.coverage(talk)] == [0]
    assert len(await memory.history.get_recent_turns(talk, 10_000)) == 1

    healed = memory_of(store, ScriptedModel(draft))
    await healed.say(talk, "And now?", "Better.")  # the next turn tries again
    await healed.worker.drain()
    assert len(await store.records.find(SUMMARY, SummaryFilter(talk))) == 1


async def test_a_turn_that_arrives_meanwhile_is_neither_covered_nor_lost(store: Store) -> None:
    memory = memory_of(store, ScriptedModel(draft, delay=0.2))
    talk = await memory.start()
    await memory.say(talk, "Long?", LONG)

    async def interrupt() -> None:
        await asyncio.sleep(0.1)
        await memory.recorder.store_turn(talk, [user("Late?"), assistant("Late.")])

    await asyncio.gather(memory.worker.drain(), interrupt())
    await memory.worker.drain()

    [summary] = await store.records.find(SUMMARY, SummaryFilter(talk))
    assert await list_covered(store, summary.uuid) == [0]
    assert [t.turn_index for t in await store.timeline.coverage(talk)] == [1]


async def test_a_conversation_deleted_meanwhile_ends_the_job(store: Store) -> None:
    memory = memory_of(store, ScriptedModel(draft, delay=0.2))
    talk = await memory.start()
    await memory.say(talk, "Long?", LONG)

    async def interrupt() -> None:
        await asyncio.sleep(0.1)
        await store.records.delete(CONVERSATION, talk)

    await asyncio.gather(memory.worker.drain(), interrupt())
    counts = (await store.jobs.count()).by_status
    assert (counts["pending"], counts["running"], counts["dead"]) == (0, 0, 0)


async def test_what_was_trimmed_is_not_made_again_by_the_next_question(store: Store) -> None:
    memory = memory_of(store)
    talk = await memory.start()
    for number in range(4):
        await memory.say(talk, f"Question {number}?", LONG)
    await memory.worker.drain()
    old = await store.records.find(SUMMARY, SummaryFilter(talk))
    assert {one.level for one in old} == {1, 2}

    await memory.store.timeline.trim(now() + timedelta(seconds=1))
    await memory.say(talk, "One more?", LONG)
    await memory.worker.drain()

    [new] = await store.records.find(SUMMARY, SummaryFilter(talk))
    assert (new.level, new.start_turn_index, new.end_turn_index) == (1, 4, 4)
    assert (await memory.recorder.store_turn(talk, [user("And?")])).user.turn_index == 5


async def test_what_was_deleted_is_summarised_again(store: Store) -> None:
    chance = random.Random(7)
    memory = memory_of(store)
    talk = await memory.start()
    for number in range(60):
        await memory.recorder.store_turn(talk, turn_of(chance, number))
    await memory.worker.drain()
    first, second = await check_levels(memory, await store.records.get(CONVERSATION, talk))

    for one in second:
        await store.records.delete(SUMMARY, one.uuid)
    await memory.condenser.enqueue_due(talk)
    await memory.worker.drain()
    again_first, again_second = await check_levels(
        memory, await store.records.get(CONVERSATION, talk)
    )
    assert [one.uuid for one in again_first] == [one.uuid for one in first]
    assert [one.uuid for one in again_second] == [one.uuid for one in second]


async def test_a_turn_that_was_resumed_is_summarised_as_a_whole(store: Store) -> None:
    model = ScriptedModel(lambda request: json.dumps({"conversation_summary": last_words(request)}))
    memory = memory_of(store, model)
    talk = await memory.start()
    turn = await memory.recorder.store_turn(talk, [user("Which colour?"), assistant(LONG)])
    await memory.say(talk, "And the size?", LONG)
    await memory.worker.drain()
    before = await store.records.find(SUMMARY, SummaryFilter(talk, level=1))

    await memory.recorder.record_answer(talk, turn.user.turn_index or 0, "Purple, in the end.")
    await memory.recorder.end_turn(talk, turn.uuid, again=True)
    await memory.worker.drain()

    [first, second] = await store.records.find(SUMMARY, SummaryFilter(talk, level=1))
    assert len(before) == 2
    assert "Purple" not in before[0].conversation_summary
    assert "Purple, in the end." in first.conversation_summary
    assert second == before[1]


async def test_queries_and_turns_are_read_newest_first_and_returned_in_order(store: Store) -> None:
    memory = memory_of(store)
    talk = await memory.start()
    for number in range(45):
        await memory.say(talk, f"Q{number:02}", "x" * 97)

    recent = await memory.history.get_recent_turns(talk, 2_500)
    assert [turn.user.content for turn in recent] == [f"Q{n:02}" for n in range(20, 45)]
    queries = await memory.history.get_last_user_queries(talk, 9, without=[recent[-1].uuid])
    assert [query.user_message for query in queries] == ["Q41", "Q42", "Q43"]
    assert [query.turn_index for query in queries] == [41, 42, 43]
    assert [query.timestamp for query in queries] == [t.user.timestamp for t in recent[-4:-1]]
    everything = await memory.history.get_recent_turns(talk, 10**6)
    assert len(everything) == 45


async def test_a_number_limits_turns_and_queries_as_characters_do(store: Store) -> None:
    memory = memory_of(store)
    talk = await memory.start()
    for number in range(5):
        await memory.say(talk, f"Q{number}", "x" * 98)

    turns = await memory.history.get_recent_turns(talk, limit=3)
    fewer = await memory.history.get_recent_turns(talk, 200, limit=3)
    queries = await memory.history.get_last_user_queries(talk, limit=2)

    assert [turn.user.content for turn in turns] == ["Q2", "Q3", "Q4"]
    assert [turn.user.content for turn in fewer] == ["Q3", "Q4"]
    assert [query.user_message for query in queries] == ["Q3", "Q4"]
    assert await memory.history.get_recent_turns(talk, limit=0) == []


async def test_raw_history_counts_the_characters_that_no_summary_covers(store: Store) -> None:
    memory = memory_of(store)
    talk = await memory.start()
    for number in range(5):
        await memory.say(talk, f"Q{number}", "x" * 98)
    before = await memory.history.get_raw_history_char_count(talk)

    await store.timeline.save_summary(summary(talk, 0, 2))

    assert before == 500
    assert await memory.history.get_raw_history_char_count(talk) == 200
    assert (await store.records.get(CONVERSATION, talk)).total_chars == 500


async def test_summaries_are_found_by_date(store: Store) -> None:
    memory = memory_of(store)
    talk = await memory.start()
    await memory.say(talk, "Long?", LONG)
    await memory.worker.drain()
    [new] = await store.records.find(SUMMARY, SummaryFilter(talk))
    old = replace(new, uuid="old", created_at=now() - timedelta(days=9))
    await store.timeline.save_summary(old)

    week_ago = now() - timedelta(days=7)
    [recent] = await store.records.find(SUMMARY, SummaryFilter(talk, since=week_ago))
    assert recent.uuid == new.uuid
    [earlier] = await store.records.find(SUMMARY, SummaryFilter(until=week_ago))
    assert earlier.uuid == "old"
    assert await store.timeline.trim(week_ago) == 1
