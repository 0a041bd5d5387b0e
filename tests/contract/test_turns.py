"""Turns: a question and all that was done about it, even if others talk meanwhile."""

from __future__ import annotations

from functools import partial

import pytest

from ragforge.domain.conversations import Message
from ragforge.domain.schema import CONVERSATION, TURN
from ragforge.domain.turns import StoredTurn, group_into_turns
from ragforge.errors import MessageNotFound, TurnNotFound
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    at,
    conversation,
    direction,
    system,
    tool_call,
    user,
)
from tests.fakes.engines import counts


@pytest.fixture
async def talk(store: Store) -> str:
    await store.records.put(CONVERSATION, conversation(uuid="talk"))
    return "talk"


def contents(messages: list[Message]) -> list[str]:
    return [message.content for message in messages]


async def test_a_turn_that_arrives_late_joins_the_turn_it_names(store: Store, talk: str) -> None:
    await store.timeline.append(talk, [user("one", uuid="t0")])
    await store.timeline.append(talk, [user("two", uuid="t1")])

    [late] = await store.timeline.append(talk, [assistant("about one", turn_index=0)])

    assert (late.turn_index, late.position) == (0, 2)
    turns = await store.timeline.turns(["t0", "t1"])
    assert contents(turns["t0"].messages) == ["one", "about one"]
    assert contents(turns["t1"].messages) == ["two"]


async def test_two_terminals_that_talk_at_once_do_not_mix_their_answers(
    store: Store, talk: str
) -> None:
    append = store.timeline.append
    [left] = await append(talk, [user("left?")])
    [right] = await append(talk, [user("right?")])
    await append(talk, [assistant("", tool_call("l"), turn_index=left.turn_index)])
    await append(talk, [assistant("", tool_call("r"), turn_index=right.turn_index)])
    await append(talk, [assistant("right!", turn_index=right.turn_index)])
    await append(talk, [assistant("left!", turn_index=left.turn_index)])

    turns = group_into_turns(await store.timeline.messages(talk))

    told = [(t.user.content, t.answer, [c.tool_name for c in t.tool_calls]) for t in turns]
    assert told == [("left?", "left!", ["l"]), ("right?", "right!", ["r"])]


async def test_an_answer_can_name_the_turn_that_its_own_append_opens(
    store: Store, talk: str
) -> None:
    await store.timeline.append(talk, [user("one")])

    appended = await store.timeline.append(talk, [user("two"), assistant("2", turn_index=1)])

    assert [m.turn_index for m in appended] == [1, 1]


async def test_a_message_without_a_turn_joins_the_newest_even_after_a_late_one(
    store: Store, talk: str
) -> None:
    await store.timeline.append(talk, [user("one"), user("two")])
    await store.timeline.append(talk, [assistant("late", turn_index=0)])

    [joined] = await store.timeline.append(talk, [assistant("which?")])

    assert joined.turn_index == 1


@pytest.mark.parametrize("index", [1, 99, -2])
async def test_a_turn_that_does_not_exist_cannot_be_joined(
    store: Store, talk: str, index: int
) -> None:
    await store.timeline.append(talk, [user("one")])
    await store.records.put(CONVERSATION, conversation(uuid="longer"))
    await store.timeline.append("longer", [user() for _ in range(3)])
    before = await counts(store)

    with pytest.raises(TurnNotFound):
        await store.timeline.append(talk, [assistant(turn_index=index)])

    assert await counts(store) == before


async def test_turns_are_returned_with_everything_in_them(store: Store, talk: str) -> None:
    first = [user(uuid="t0"), assistant("", tool_call(), tool_call(result=None)), assistant("x")]
    second = [user("unanswered", uuid="t1")]
    stored = await store.timeline.append(talk, [system(), *first, *second])

    turns = await store.timeline.turns(["t1", "t0", "t1"])

    assert turns == {"t0": StoredTurn(talk, stored[1:4]), "t1": StoredTurn(talk, stored[4:])}


async def test_ids_that_are_not_turns_are_left_out(store: Store, talk: str) -> None:
    await store.timeline.append(talk, [system(uuid="s"), user(uuid="t"), assistant(uuid="a")])
    assert set(await store.timeline.turns(["s", "a", "t", "none", talk])) == {"t"}
    assert await store.timeline.turns([]) == {}


async def test_turns_without_a_vector_are_listed_oldest_first(store: Store, talk: str) -> None:
    await store.timeline.append(
        talk,
        [
            system(),
            *(m for i in range(4) for m in (user(uuid=f"t{i}", timestamp=at(i)), assistant())),
        ],
    )
    await store.index.embed(TURN, {"t1": direction(0, "a")})
    to_embed = partial(store.index.pending, TURN)

    assert await to_embed("a", 9) == ["t0", "t2", "t3"]
    assert await to_embed("a", 2) == ["t0", "t2"]
    assert await to_embed("b", 9) == ["t0", "t1", "t2", "t3"]
    assert await to_embed("a", 0) == []
    assert await store.index.count_pending(TURN, "a") == (3, 4)
    assert await store.index.count_pending(TURN, "b") == (4, 4)


async def test_a_conversation_says_which_model_embedded_its_turns(store: Store, talk: str) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="other"))
    await store.timeline.append("other", [user(uuid="elsewhere")])
    await store.timeline.append(talk, [user(uuid=f"t{i}") for i in range(4)])
    vectors = {name: direction(0, "a") for name in ("t3", "t1", "elsewhere")}
    await store.index.embed(TURN, vectors)
    await store.index.embed(TURN, {"t2": direction(0, "b")})

    light = await store.archive.conversation(talk, with_vectors=False)

    models = {one["owner_id"]: one["model"] for one in light["vector"]}
    assert models == {"t1": "a", "t2": "b", "t3": "a"}
    assert not any(one["data"] for one in light["vector"])


async def test_only_turns_can_be_embedded_and_all_or_none_are(store: Store, talk: str) -> None:
    await store.timeline.append(talk, [user(uuid="t"), assistant(uuid="a")])

    for bad in ("a", "none"):
        with pytest.raises(MessageNotFound):
            await store.index.embed(TURN, {"t": direction(0), bad: direction(1)})

    assert await store.archive.count("vector") == 0
    assert await store.index.pending(TURN, direction(0).model, 9) == ["t"]


async def test_embedding_no_turns_does_nothing(store: Store, talk: str) -> None:
    await store.index.embed(TURN, {})
    assert await store.archive.count("vector") == 0
