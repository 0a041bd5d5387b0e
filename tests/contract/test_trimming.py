"""Trimming: exactly the old summaries are deleted, and they are not created again."""

from __future__ import annotations

import pytest

from ragforge.domain.schema import CONVERSATION, SUMMARY
from ragforge.domain.summaries import Level, Summary, SummaryFilter
from ragforge.memory.summaries.due import should_create_l1_summary, should_create_l2_summary
from ragforge.ports.store import Store
from tests.fakes.builders import assistant, at, conversation, level_2, mention, summary, user
from tests.fakes.coverage import list_covered

OLD, NEW = at(-60), at(0)
THEN = at(-30)


async def plant(store: Store, name: str = "c", cwd: str = "/work/shop") -> list[Summary]:
    """Six turns in two old L1 and a new one, and an L2 over the old ones."""
    await store.records.put(CONVERSATION, conversation(cwd, uuid=name))
    said = [[user(f"Q{n}", uuid=f"{name}-{n}"), assistant(f"A{n}")] for n in range(6)]
    await store.timeline.append(name, [message for turn in said for message in turn])
    first = summary(name, 0, 1, uuid=f"{name}-first", created_at=OLD)
    second = summary(name, 2, 3, uuid=f"{name}-second", created_at=OLD)
    third = summary(name, 4, 4, uuid=f"{name}-third", created_at=NEW)
    both = level_2([first, second], uuid=f"{name}-both", created_at=OLD)
    for one in (first, second, third, both):
        await store.timeline.save_summary(one)
    await store.timeline.link(SUMMARY, first.uuid, [], [mention("a.py")])
    return [first, second, third, both]


async def left(store: Store, name: str = "c") -> list[str]:
    found = await store.records.find(SUMMARY, SummaryFilter(name))
    return sorted(one.uuid.removeprefix(f"{name}-") for one in found)


async def uncovered(store: Store) -> list[int]:
    return [turn.turn_index for turn in await store.timeline.coverage("c")]


async def trimmed(store: Store, first_turn: int = 0) -> list[int]:
    turns = await store.timeline.coverage("c", first_turn)
    return [turn.turn_index for turn in turns if turn.is_trimmed]


@pytest.mark.parametrize(
    ("level", "gone", "kept"),
    [
        (1, 2, ["both", "third"]),
        (2, 1, ["first", "second", "third"]),
        (None, 3, ["third"]),
    ],
)
async def test_what_is_older_goes_and_nothing_else(
    store: Store, level: Level | None, gone: int, kept: list[str]
) -> None:
    await plant(store)
    assert await store.timeline.trim(OLD, level) == 0  # made before then, not at that moment
    assert await store.timeline.trim(THEN, level) == gone
    assert await left(store) == kept
    assert await store.timeline.trim(THEN, level) == 0


async def test_trimming_can_be_limited_to_one_conversation_or_project(store: Store) -> None:
    for name, cwd in (("a", "/work/shop"), ("b", "/work/shop"), ("c", "/work/bank")):
        await plant(store, name, cwd)
    assert await store.timeline.trim(THEN, 1, conversation_id="a") == 2
    assert await store.timeline.trim(THEN, 2, project_ids=["/work/bank"]) == 1
    assert await left(store, "a") == ["both", "third"]
    assert await left(store, "b") == ["both", "first", "second", "third"]
    assert await left(store, "c") == ["first", "second", "third"]


async def test_turns_whose_summary_was_trimmed_do_not_wait_for_another(store: Store) -> None:
    await plant(store)
    await store.timeline.trim(THEN, 1)

    assert await uncovered(store) == [5]
    assert await trimmed(store) == [0, 1, 2, 3]
    assert await trimmed(store, 2) == [2, 3]
    due = await should_create_l1_summary(store, "c", 1)
    assert [turn.user.turn_index for turn in due.turns_to_summarize] == [5]
    await store.timeline.save_summary(summary("c", 0, 5, uuid="wide"))
    assert await list_covered(store, "wide") == [5]


async def test_summaries_whose_long_term_one_was_trimmed_are_shown_but_not_due(
    store: Store,
) -> None:
    first, second, third, _ = await plant(store)
    await store.timeline.trim(THEN, 2)

    assert await store.records.find(SUMMARY, SummaryFilter("c", outside_level_2=True)) == [
        first,
        second,
        third,
    ]
    assert await store.records.find(SUMMARY, SummaryFilter("c", waiting=True)) == [third]
    assert not (await should_create_l2_summary(store, "c", 1)).should_create


async def test_a_long_term_summary_no_longer_names_what_was_trimmed(store: Store) -> None:
    first, second, _, both = await plant(store)
    await store.timeline.trim(THEN, 1)
    kept = await store.records.get(SUMMARY, both.uuid)
    assert kept.parent_summaries == ()
    assert (kept.conversation_summary, kept.start_turn_index, kept.end_turn_index) == (
        both.conversation_summary,
        first.start_turn_index,
        second.end_turn_index,
    )


async def test_deleting_by_hand_makes_turns_eligible_again(store: Store) -> None:
    _, _, third, both = await plant(store)
    await store.timeline.trim(THEN, 1)
    await store.records.delete(SUMMARY, both.uuid)
    assert await uncovered(store) == [0, 1, 2, 3, 5]
    assert await trimmed(store) == []
    await store.records.delete(SUMMARY, third.uuid)
    assert await uncovered(store) == [0, 1, 2, 3, 4, 5]


async def test_trims_can_be_forgotten(store: Store) -> None:
    await plant(store)
    await store.timeline.trim(THEN)
    await store.timeline.forget_trims("c")
    assert await uncovered(store) == [0, 1, 2, 3, 5]
