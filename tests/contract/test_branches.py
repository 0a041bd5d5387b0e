"""Branches: another continuation from any message."""

from __future__ import annotations

import pytest

from ragforge.domain.conversations import ConversationFilter, MemoryFilter, Message
from ragforge.domain.schema import CONVERSATION, MESSAGE, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.turns import group_into_turns
from ragforge.errors import ConversationNotFound, DuplicateId, MessageNotFound
from ragforge.ports.store import Store
from tests.fakes.builders import (
    MODEL,
    assistant,
    conversation,
    direction,
    exchange,
    reference,
    summary,
    system,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.engines import counts
from tests.fakes.whole import read_whole


@pytest.fixture
async def trunk(store: Store) -> list[Message]:
    """A conversation of two turns, the second with two steps before its answer."""
    await store.records.put(CONVERSATION, conversation(uuid="trunk", title="Trunk"))
    return await store.timeline.append(
        "trunk",
        [
            system("rules"),
            *exchange("zebra?", "yes"),
            user("giraffe?"),
            assistant("", tool_call("grep", result=tool_result("123")), reasoning="hm"),
            assistant("step", tool_call("read", result=None, iteration=2)),
            assistant("giraffe!"),
        ],
    )


def ids(messages: list[Message]) -> set[str]:
    calls = [call for message in messages for call in message.tool_calls]
    results = [call.result for call in calls if call.result]
    return {one.uuid for one in (*messages, *calls, *results)}


def without_ids(messages: list[Message]) -> list[tuple[object, ...]]:
    """Return what was said, without the ids."""
    return [
        (
            m.role,
            m.content,
            m.reasoning,
            m.timestamp,
            m.turn_index,
            m.position,
            [(c.tool_name, c.arguments, c.iteration, c.result and c.result.result) for c in calls],
        )
        for m in messages
        for calls in [m.tool_calls]
    ]


async def branches(store: Store, conversation_id: str) -> list[str]:
    """Return the ids of the branches of a conversation, in order."""
    whole = await read_whole(store, conversation_id)
    return sorted(point.conversation_id for point in whole.branches)


async def test_a_branch_from_the_middle_of_a_turn_holds_all_up_to_there(
    store: Store, trunk: list[Message]
) -> None:
    await store.timeline.branch(trunk[4].uuid, conversation(uuid="branch"))

    copied = await store.timeline.messages("branch")

    assert without_ids(copied) == without_ids(trunk[:5])
    assert not ids(copied) & ids(trunk)
    assert await store.timeline.messages("trunk") == trunk


async def test_a_branch_has_its_own_name_and_counters(store: Store, trunk: list[Message]) -> None:
    into = conversation("/work/other", uuid="branch", title="Another way", tags=("x",))

    branch = await store.timeline.branch(trunk[4].uuid, into)

    assert branch == await store.records.get(CONVERSATION, "branch")
    assert (branch.title, branch.cwd, branch.tags) == ("Another way", "/work/other", ("x",))
    assert (branch.message_count, branch.turn_count) == (5, 2)
    assert branch.total_chars == sum(m.char_count for m in trunk[:5])


async def test_a_branch_and_its_trunk_share_no_later_history(
    store: Store, trunk: list[Message]
) -> None:
    await store.timeline.branch(trunk[2].uuid, conversation(uuid="branch"))

    [there] = await store.timeline.append("branch", [user("only in the branch")])
    [here] = await store.timeline.append("trunk", [user("only in the trunk")])

    assert (there.turn_index, there.position) == (1, 3)
    assert (here.turn_index, here.position) == (2, 7)
    in_branch = [m.content for m in await store.timeline.messages("branch")]
    assert in_branch == ["rules", "zebra?", "yes", "only in the branch"]


async def test_a_branch_is_found_by_what_it_copied_and_nothing_else(
    store: Store, trunk: list[Message]
) -> None:
    await store.timeline.branch(trunk[2].uuid, conversation(uuid="branch"))
    inside = MemoryFilter(conversation_id="branch")
    copied = (await store.timeline.messages("branch"))[1]

    hits = (await store.index.search(TURN, "zebra", None, inside, 9, read=0)).by_words

    assert [hit.id for hit in hits] == [copied.uuid]
    assert (await store.index.search(TURN, "giraffe", None, inside, 9, read=0)).by_words == []


async def test_vectors_are_copied_with_their_turns(store: Store, trunk: list[Message]) -> None:
    first, second = trunk[1].uuid, trunk[3].uuid
    await store.index.embed(TURN, {first: direction(30), second: direction(60)})

    await store.timeline.branch(trunk[2].uuid, conversation(uuid="branch"))

    inside = MemoryFilter(conversation_id="branch")
    copied = (await store.timeline.messages("branch"))[1]
    [hit] = (await store.index.search(TURN, "", direction(30), inside, 9, read=0)).by_vector
    assert hit.id == copied.uuid
    assert hit.score == pytest.approx(1, abs=1e-5)
    assert await store.index.pending(TURN, MODEL, 9) == []


async def test_references_are_copied_and_summaries_are_not(
    store: Store, trunk: list[Message]
) -> None:
    seen = [reference("s1", "a.py", "f"), reference("s2", "b.py", "g")]
    await store.timeline.link(MESSAGE, trunk[4].uuid, seen)
    await store.timeline.save_summary(summary("trunk"))

    await store.timeline.branch(trunk[4].uuid, conversation(uuid="branch"))

    copied = await store.timeline.messages("branch")
    assert await store.timeline.links([copied[4].uuid]) == {copied[4].uuid: (seen, [])}
    assert await store.records.find(SUMMARY, SummaryFilter("branch", outside_level_2=True)) == []
    assert [t.turn_index for t in await store.timeline.coverage("branch")] == [0, 1]


async def test_a_branch_from_the_newest_message_is_a_whole_copy(
    store: Store, trunk: list[Message]
) -> None:
    await store.timeline.branch(trunk[-1].uuid, conversation(uuid="branch"))
    assert without_ids(await store.timeline.messages("branch")) == without_ids(trunk)


async def test_a_branch_of_interleaved_turns_keeps_them_apart(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="two terminals"))
    append = store.timeline.append
    await append("two terminals", [user("left?"), user("right?")])
    await append("two terminals", [assistant("left!", turn_index=0)])
    [last] = await append("two terminals", [assistant("right!", turn_index=1)])
    await append("two terminals", [assistant("left again", turn_index=0)])

    await store.timeline.branch(last.uuid, conversation(uuid="branch"))

    turns = group_into_turns(await store.timeline.messages("branch"))
    assert [(t.user.content, t.answer) for t in turns] == [("left?", "left!"), ("right?", "right!")]


async def test_a_branch_before_the_first_question_has_no_turn(
    store: Store, trunk: list[Message]
) -> None:
    branch = await store.timeline.branch(trunk[0].uuid, conversation(uuid="branch"))
    assert (branch.message_count, branch.turn_count) == (1, 0)


async def test_a_trunk_knows_its_branches(store: Store, trunk: list[Message]) -> None:
    for name in ("second", "first"):
        await store.timeline.branch(trunk[2].uuid, conversation(uuid=name))
    [copied, *_] = await store.timeline.messages("first")
    await store.timeline.branch(copied.uuid, conversation(uuid="twig"))

    assert await branches(store, "trunk") == ["first", "second"]
    assert await branches(store, "first") == ["twig"]
    assert await branches(store, "twig") == []


async def test_branches_outlive_their_trunk(store: Store, trunk: list[Message]) -> None:
    branch = await store.timeline.branch(trunk[4].uuid, conversation(uuid="branch"))

    await store.records.delete(CONVERSATION, "trunk")

    assert await store.records.get(CONVERSATION, "branch") == branch
    assert without_ids(await store.timeline.messages("branch")) == without_ids(trunk[:5])
    assert await store.archive.count("branch") == 0


async def test_a_deleted_branch_is_no_longer_listed(store: Store, trunk: list[Message]) -> None:
    await store.timeline.branch(trunk[4].uuid, conversation(uuid="branch"))

    await store.records.delete(CONVERSATION, "branch")

    assert await branches(store, "trunk") == []
    assert await store.timeline.messages("trunk") == trunk


async def test_a_branch_that_cannot_be_made_leaves_no_trace(
    store: Store, trunk: list[Message]
) -> None:
    before = await counts(store)

    with pytest.raises(MessageNotFound):
        await store.timeline.branch("none", conversation(uuid="branch"))
    with pytest.raises(DuplicateId):
        await store.timeline.branch(trunk[4].uuid, conversation(uuid="trunk"))

    assert await counts(store) == before
    assert await store.timeline.messages("trunk") == trunk
    with pytest.raises(ConversationNotFound):
        await store.records.get(CONVERSATION, "branch")


async def test_branches_and_sub_agents_are_found_from_both_ends(
    store: Store, trunk: list[Message]
) -> None:
    talks = store.timeline
    await talks.branch(trunk[2].uuid, conversation(uuid="twig"))
    await store.records.put(CONVERSATION, conversation(uuid="helper", parent_id="trunk"))

    async def find(**fields: str) -> list[str]:
        return [
            one.uuid for one in await store.records.find(CONVERSATION, ConversationFilter(**fields))
        ]

    assert await find(branch_of="trunk") == ["twig"]
    assert await find(origin_of="twig") == ["trunk"]
    assert await find(parent_id="trunk") == ["helper"]
    for field in ("branch_of", "origin_of", "parent_id"):
        assert await find(**{field: "helper"}) == []
