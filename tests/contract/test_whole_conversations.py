"""Whole conversations: read as one thing, added as one thing or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragforge.domain.conversation_bundle import copy_with_new_ids
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import CONVERSATION, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.errors import (
    ConversationNotFound,
    DimensionMismatch,
    DuplicateId,
    InvalidText,
    RagForgeError,
)
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    conversation,
    direction,
    placed,
    reference,
    summary,
    tool_call,
    tool_result,
    user,
    vector,
)
from tests.fakes.copying import everything
from tests.fakes.engines import Engines, counts
from tests.fakes.rich import fill_facts
from tests.fakes.whole import BranchPoint, Whole, WholeSummary, add_whole, make_whole, read_whole

PAIRS = [
    pytest.param("sqlite", "sqlite"),
    pytest.param("neo4j", "neo4j", marks=pytest.mark.neo4j),
    pytest.param("sqlite", "neo4j", marks=pytest.mark.neo4j),
    pytest.param("neo4j", "sqlite", marks=pytest.mark.neo4j),
]
OF_CONVERSATIONS = (
    "conversation",
    "message",
    "tool_call",
    "tool_result",
    "summary",
    "reference",
    "mention",
    "branch",
)


def small(name: str = "new") -> Whole:
    """Return a conversation of one turn, with an id of each kind."""
    call = tool_call(uuid=f"{name}-call", result=tool_result(uuid=f"{name}-result"))
    said = [
        user("Where do zebras go?", uuid=f"{name}-0"),
        assistant("Into the cart.", call, uuid=f"{name}-1"),
    ]
    return Whole(
        conversation(uuid=name),
        tuple(placed(said)),
        {f"{name}-1": (reference("s"),)},
        (WholeSummary(summary(name, uuid=f"{name}-l1"), covers=(0,)),),
    )


@pytest.mark.parametrize(("source", "target"), PAIRS)
async def test_conversations_moved_one_by_one_are_the_same_in_the_other_store(
    engines: Engines, source: str, target: str
) -> None:
    original = await engines.empty(source)
    await fill_facts(original)
    expected = await everything(original)
    # The branch comes before what it was branched from, and is linked all the same.
    wholes = [await read_whole(original, name) for name in ("branch", "cart", "billing")]

    there = await engines.empty(target)
    for whole in wholes:
        await add_whole(there, whole)

    found = await everything(there)
    for kind in OF_CONVERSATIONS:
        assert found[kind] == expected[kind], kind
    of_code = [r for r in expected["vector"] if r["owner_kind"] == "scope"]
    moved = [r for r in expected["vector"] if r not in of_code and r["owner_id"] != "aa-new"]
    assert found["vector"] == moved
    assert found["note"] == [note for note in expected["note"] if note["uuid"] == "zz-old"]
    assert [await read_whole(there, whole.conversation.uuid) for whole in wholes] == wholes


async def test_a_whole_conversation_tells_all_that_is_known_of_it(store: Store) -> None:
    rich = await fill_facts(store)

    whole = await read_whole(store, "cart")

    assert whole.conversation == await store.records.get(CONVERSATION, "cart")
    assert list(whole.messages) == await store.timeline.messages("cart")
    assert {owner: len(found) for owner, found in whole.references.items()} == {
        "step-0": 1,
        "answer-1": 2,
    }
    assert tuple(known.summary for known in whole.summaries) == rich.summaries
    assert [known.covers for known in whole.summaries] == [(0,), (1,), ()]
    assert [len(known.files) for known in whole.summaries] == [2, 0, 1]
    assert whole.branches == (BranchPoint("branch", "answer-1"),)
    assert whole.branch_of is None
    assert whole.vector == direction(10)
    assert whole.turn_vectors == {"turn-0": direction(0), "turn-1": direction(90)}
    assert whole.passage_vectors == {"turn-0:1": direction(15)}
    assert whole.summary_vectors == {"l1-0": direction(20), "l2": direction(70)}
    assert [note.uuid for note in whole.notes] == ["zz-old"]
    assert whole.note_vectors == {"zz-old": direction(30)}
    branch = await read_whole(store, "branch")
    assert branch.branch_of == BranchPoint("cart", "answer-1")


async def test_what_was_added_is_found_covered_and_continued(store: Store) -> None:
    whole = replace(
        small(),
        vector=direction(10),
        turn_vectors={"new-0": direction(20)},
        summary_vectors={"new-l1": direction(30)},
    )
    await add_whole(store, whole)

    talk = store.timeline
    [by_words] = (
        await store.index.search(
            TURN, "zebra", None, MemoryFilter(project_ids=["/work/shop"]), 5, read=0
        )
    ).by_words
    [by_vector] = (
        await store.index.search(TURN, "", direction(20), MemoryFilter(), 5, read=0)
    ).by_vector
    assert by_words.id == by_vector.id == "new-0"
    [summary_hit] = (
        await store.index.search(SUMMARY, "cart", None, SummaryFilter(conversation_id="new"), 5)
    ).by_words
    assert summary_hit.id == "new-l1"
    assert await talk.coverage("new") == []
    counters = await store.records.get(CONVERSATION, "new")
    assert (counters.message_count, counters.turn_count) == (2, 1)
    assert counters.total_chars == sum(message.char_count for message in whole.messages)
    [next_one] = await talk.append("new", [user()])
    assert (next_one.turn_index, next_one.position) == (1, 2)


async def test_counters_are_recomputed(store: Store) -> None:
    whole = small()
    wrong = replace(whole.conversation, message_count=99, turn_count=98, total_chars=97)
    await add_whole(store, replace(whole, conversation=wrong))
    assert (await store.records.get(CONVERSATION, "new")).message_count == 2


@pytest.mark.parametrize("taken", ["conversation", "message", "tool call", "result", "summary"])
async def test_an_id_that_is_taken_lets_nothing_in(store: Store, taken: str) -> None:
    await add_whole(store, small("old"))
    before = await everything(store)
    whole = small()
    [said, answered] = whole.messages
    [call] = answered.tool_calls
    assert call.result is not None
    [known] = whole.summaries
    if taken == "conversation":
        whole = replace(whole, conversation=conversation(uuid="old"))
    elif taken == "message":
        whole = replace(whole, messages=(said, replace(answered, uuid="old-1")), references={})
    elif taken == "tool call":
        answered = replace(answered, tool_calls=(replace(call, uuid="old-call"),))
        whole = replace(whole, messages=(said, answered))
    elif taken == "result":
        call = replace(call, result=replace(call.result, uuid="old-result"))
        whole = replace(whole, messages=(said, replace(answered, tool_calls=(call,))))
    else:
        known = replace(known, summary=replace(known.summary, uuid="old-l1"))
        whole = replace(whole, summaries=(known,))

    with pytest.raises(DuplicateId, match="old"):
        await add_whole(store, whole)

    assert await everything(store) == before


async def test_a_part_that_cannot_be_stored_lets_nothing_in(store: Store) -> None:
    await add_whole(store, replace(small("old"), turn_vectors={"old-0": direction(0)}))
    before = await counts(store)
    whole = small()
    said, answered = whole.messages
    bad: list[tuple[Whole, type[RagForgeError]]] = [
        (replace(whole, messages=(said, replace(answered, content="\ud83d"))), InvalidText),
        (replace(whole, turn_vectors={"new-0": vector(1, 2, 3)}), DimensionMismatch),
    ]
    for one, error in bad:
        with pytest.raises(error):
            await add_whole(store, one)
        assert await counts(store) == before


async def test_a_branch_whose_other_end_is_not_there_is_left_out(store: Store) -> None:
    lost = replace(
        small(), branch_of=BranchPoint("nowhere", "m"), branches=(BranchPoint("gone", "new-1"),)
    )
    await add_whole(store, lost)
    assert await store.archive.count("branch") == 0


async def test_a_copy_has_nothing_but_new_ids(store: Store) -> None:
    await fill_facts(store)
    whole = await read_whole(store, "cart")
    copy = make_whole(copy_with_new_ids(whole.to_records()))

    await add_whole(store, copy)

    found = await read_whole(store, copy.conversation.uuid)
    assert found == replace(copy, notes=(), note_vectors={}), "notes stay with the original"
    assert [(m.role, m.content, m.turn_index, m.position) for m in found.messages] == [
        (m.role, m.content, m.turn_index, m.position) for m in whole.messages
    ]
    assert [known.covers for known in found.summaries] == [(0,), (1,), ()]
    first, second, both = found.summaries
    assert both.summary.parent_summaries == (first.summary.uuid, second.summary.uuid)
    assert len(found.turn_vectors) == len(found.summary_vectors) == 2
    assert len((await read_whole(store, "cart")).branches) == 1


async def test_an_unknown_conversation_cannot_be_read(store: Store) -> None:
    with pytest.raises(ConversationNotFound):
        await read_whole(store, "nobody")
