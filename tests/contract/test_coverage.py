"""Coverage: which turns a summary covers, so that each is summarised once."""

from __future__ import annotations

import pytest

from ragforge.domain.schema import CONVERSATION, SUMMARY
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.turns import TurnCoverage
from ragforge.errors import ConversationNotFound, SummaryNotFound, TurnNotFound
from ragforge.memory.summaries.due import should_create_l1_summary
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    at,
    conversation,
    exchange,
    level_2,
    summary,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.coverage import list_covered


@pytest.fixture
async def talk(store: Store) -> str:
    """A conversation of six turns; turn n has n + 2 characters."""
    await store.records.put(CONVERSATION, conversation(uuid="talk"))
    for i in range(6):
        await store.timeline.append("talk", exchange("q" * (i + 1), "a"))
    return "talk"


async def uncovered(store: Store, conversation_id: str) -> list[int]:
    return [turn.turn_index for turn in await store.timeline.coverage(conversation_id)]


async def test_turns_are_uncovered_at_first_and_have_their_size(store: Store, talk: str) -> None:
    assert await store.timeline.coverage(talk) == [TurnCoverage(i, i + 2) for i in range(6)]


async def test_the_size_of_a_turn_holds_what_tools_returned_and_what_came_late(
    store: Store,
) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    call = tool_call(result=tool_result({"a": 1}))
    await store.timeline.append("c", [user("12"), assistant("3", call), user("4")])
    await store.timeline.append("c", [assistant("late", turn_index=0)])

    sizes = await store.timeline.coverage("c")

    assert sizes == [TurnCoverage(0, 2 + 1 + len('{"a": 1}') + 4), TurnCoverage(1, 1)]


async def test_an_empty_conversation_has_no_open_turns(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    assert await store.timeline.coverage("c") == []


async def test_a_summary_covers_the_turns_of_its_range(store: Store, talk: str) -> None:
    await store.timeline.save_summary(summary(talk, 1, 3, uuid="s"))

    assert await list_covered(store, "s") == [1, 2, 3]
    assert await uncovered(store, talk) == [0, 4, 5]


async def test_a_turn_is_covered_once(store: Store, talk: str) -> None:
    await store.timeline.save_summary(summary(talk, 0, 2, uuid="first"))
    await store.timeline.save_summary(summary(talk, 1, 4, uuid="second"))

    assert await list_covered(store, "first") == [0, 1, 2]
    assert await list_covered(store, "second") == [3, 4]
    assert await uncovered(store, talk) == [5]


async def test_a_turn_that_arrives_after_a_summary_is_not_covered(store: Store, talk: str) -> None:
    await store.timeline.save_summary(summary(talk, 0, 5, uuid="s"))
    assert await uncovered(store, talk) == []

    await store.timeline.append(talk, [user("new")])

    assert await uncovered(store, talk) == [6]


async def test_coverage_stays_within_its_conversation(store: Store, talk: str) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="other"))
    await store.timeline.append("other", [user(), user()])

    await store.timeline.save_summary(summary(talk, 0, 5))

    assert await uncovered(store, "other") == [0, 1]


async def test_a_replaced_summary_covers_only_its_new_range(store: Store, talk: str) -> None:
    await store.timeline.save_summary(summary(talk, 0, 3, uuid="s"))
    await store.timeline.save_summary(summary(talk, 2, 4, uuid="s"))

    assert await list_covered(store, "s") == [2, 3, 4]
    assert await uncovered(store, talk) == [0, 1, 5]


async def test_a_second_level_covers_no_turns_but_summaries(store: Store, talk: str) -> None:
    low, high, rest = (summary(talk, i, i + 1, uuid=f"s{i}") for i in (0, 2, 4))
    for one in (rest, high, low):
        await store.timeline.save_summary(one)
    assert await store.records.find(SUMMARY, SummaryFilter(talk, outside_level_2=True)) == [
        low,
        high,
        rest,
    ]

    await store.timeline.save_summary(level_2([low, high], uuid="l2"))

    assert await store.records.find(SUMMARY, SummaryFilter(talk, outside_level_2=True)) == [rest]
    assert await list_covered(store, "s0") == [0, 1]


async def test_only_the_summaries_of_the_conversation_are_returned(store: Store, talk: str) -> None:
    await store.timeline.save_summary(summary(talk, 0, 1))
    await store.records.put(CONVERSATION, conversation(uuid="other"))
    assert await store.records.find(SUMMARY, SummaryFilter("other", outside_level_2=True)) == []


async def test_a_replaced_second_level_covers_only_its_new_parents(store: Store, talk: str) -> None:
    parts = [summary(talk, i, i, uuid=f"s{i}") for i in range(3)]
    for one in (*parts, level_2(parts[:2], uuid="l2"), level_2(parts[1:], uuid="l2")):
        await store.timeline.save_summary(one)

    assert await store.records.find(SUMMARY, SummaryFilter(talk, outside_level_2=True)) == [
        parts[0]
    ]


async def test_deleting_a_summary_frees_its_turns(store: Store, talk: str) -> None:
    await store.timeline.save_summary(summary(talk, 0, 2, uuid="s"))
    await store.timeline.save_summary(summary(talk, 3, 4, uuid="t"))

    await store.records.delete(SUMMARY, "s")

    assert await uncovered(store, talk) == [0, 1, 2, 5]
    with pytest.raises(SummaryNotFound):
        await store.records.get(SUMMARY, "s")
    with pytest.raises(SummaryNotFound):
        await list_covered(store, "s")


async def test_deleting_a_summary_takes_the_second_level_and_frees_its_siblings(
    store: Store, talk: str
) -> None:
    low, high = summary(talk, 0, 1), summary(talk, 2, 3)
    for one in (low, high, level_2([low, high], uuid="l2")):
        await store.timeline.save_summary(one)

    await store.records.delete(SUMMARY, low.uuid)

    assert await store.records.find(SUMMARY, SummaryFilter()) == [high]
    assert await store.records.find(SUMMARY, SummaryFilter(talk, outside_level_2=True)) == [high]
    assert await uncovered(store, talk) == [0, 1, 4, 5]


async def test_deleting_a_second_level_keeps_what_it_was_built_on(store: Store, talk: str) -> None:
    low, high = summary(talk, 0, 1), summary(talk, 2, 3)
    for one in (low, high, level_2([low, high], uuid="l2")):
        await store.timeline.save_summary(one)

    await store.records.delete(SUMMARY, "l2")

    assert await store.records.find(SUMMARY, SummaryFilter(talk, outside_level_2=True)) == [
        low,
        high,
    ]
    assert await uncovered(store, talk) == [4, 5]


async def test_turns_from_a_given_one_are_returned_with_what_covers_them(
    store: Store, talk: str
) -> None:
    await store.timeline.save_summary(summary(talk, 1, 1, uuid="old", created_at=at(-9)))
    await store.timeline.trim(at(-8))
    await store.timeline.save_summary(summary(talk, 2, 3, uuid="s"))

    whole = await store.timeline.coverage(talk, 0)

    assert whole == [
        TurnCoverage(0, 2),
        TurnCoverage(1, 3, is_trimmed=True),
        TurnCoverage(2, 4, "s"),
        TurnCoverage(3, 5, "s"),
        TurnCoverage(4, 6),
        TurnCoverage(5, 7),
    ]
    assert await store.timeline.coverage(talk, 3) == whole[3:]
    assert await store.timeline.coverage(talk, 6) == []
    assert await store.timeline.coverage(talk) == [turn for turn in whole if turn.is_open]


async def test_an_answer_that_arrives_late_makes_its_turn_longer(store: Store, talk: str) -> None:
    await store.timeline.append(talk, [assistant("1234", turn_index=1)])
    assert [turn.chars for turn in await store.timeline.coverage(talk, 0)] == [2, 7, 4, 5, 6, 7]


async def test_a_due_summary_says_where_its_turns_are(store: Store, talk: str) -> None:
    await store.timeline.append(talk, [assistant("1234", turn_index=1)])
    await store.timeline.save_summary(summary(talk, 0, 2))
    due = await should_create_l1_summary(store, talk, 9)
    assert [turn.user.turn_index for turn in due.turns_to_summarize] == [3, 4]
    assert (due.char_range_start, due.char_range_end) == (2 + 7 + 4, 2 + 7 + 4 + 5 + 6)


async def test_coverage_of_an_unknown_conversation_is_an_error(store: Store) -> None:
    with pytest.raises(ConversationNotFound):
        await store.timeline.coverage("none")
    with pytest.raises(ConversationNotFound):
        await store.timeline.coverage("none", 0)


async def test_a_summary_of_turns_that_are_gone_or_taken_is_not_saved(
    store: Store, talk: str
) -> None:
    messages = await store.timeline.messages(talk)
    ids = [message.uuid for message in messages if message.role == "user"]
    await store.timeline.save_summary(summary(talk, 0, 1, uuid="first"), ids[:2])
    await store.timeline.save_summary(
        summary(talk, 0, 1, uuid="first"), ids[:2]
    )  # doing it again does no harm

    with pytest.raises(TurnNotFound):
        await store.timeline.save_summary(summary(talk, 1, 2, uuid="second"), ids[1:3])
    with pytest.raises(TurnNotFound):
        await store.timeline.save_summary(
            summary(talk, 3, 5, uuid="third"), [ids[3], "gone", ids[5]]
        )

    assert [one.uuid for one in await store.records.find(SUMMARY, SummaryFilter())] == ["first"]
    assert await uncovered(store, talk) == [2, 3, 4, 5]
