"""Messages: appended in order, read back exactly."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from ragforge.domain.conversations import (
    BEFORE_FIRST_TURN,
    Message,
    MessagePlace,
    ToolCall,
    ToolResult,
)
from ragforge.domain.passages import PassageFilter
from ragforge.domain.schema import CONVERSATION, MESSAGE, MESSAGE_PLACE, PASSAGE
from ragforge.domain.turns import StoredTurn
from ragforge.errors import (
    ConversationNotFound,
    DuplicateId,
    InvalidTime,
    MessageNotFound,
    TurnNotFound,
)
from ragforge.memory.history import History
from ragforge.ports.store import Store
from tests.fakes.builders import (
    START,
    assistant,
    at,
    conversation,
    exchange,
    placed,
    system,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.engines import counts


@pytest.fixture
async def talk(store: Store) -> str:
    await store.records.put(CONVERSATION, conversation(uuid="talk"))
    return "talk"


def contents(messages: list[Message]) -> list[str]:
    return [message.content for message in messages]


async def test_calls_that_were_stored_before_they_ran_get_their_results(
    store: Store, talk: str
) -> None:
    waiting = [tool_call("run", uuid=name, result=None, success=False) for name in ("one", "two")]
    [_, said] = await store.timeline.append(talk, [user("Edit."), assistant("I edit.", *waiting)])
    done = replace(
        waiting[0], result=tool_result(result="zebra", uuid="r1"), success=True, duration_ms=7
    )
    stranger = replace(done, uuid="other", result=tool_result(uuid="r2"))

    finished = await store.timeline.finish_calls(said.uuid, [done, waiting[1], stranger])
    late = replace(done, result=tool_result(result="late", uuid="r3"))
    again = await store.timeline.finish_calls(said.uuid, [late])

    assert finished.tool_calls == (done, waiting[1])
    assert again == finished == await store.records.get(MESSAGE, said.uuid)
    stored = await store.timeline.messages(talk)
    known = await store.records.get(CONVERSATION, talk)
    assert known.total_chars == sum(message.char_count for message in stored)
    assert known.message_count == 2
    assert (await store.index.search(PASSAGE, "zebra", None, PassageFilter(), 5)).by_words
    with pytest.raises(MessageNotFound):
        await store.timeline.finish_calls("nobody", [done])


def test_a_call_whose_result_failed_is_not_a_success() -> None:
    assert not ToolCall("read_file", {}, ToolResult(False, error="no such file")).success
    assert ToolCall("read_file", {}, ToolResult(True, "text")).success


async def test_messages_come_back_as_they_were_appended(store: Store, talk: str) -> None:
    given = [
        user("Find it", timestamp=at(1, 5.5), token_count=0, process="host 7 1.5"),
        assistant(
            "",
            tool_call(arguments={"a": [1, 2.5, None, True, {"é": ""}]}, iteration=0),
            tool_call("read_file", result=None, success=False, duration_ms=15),
            tool_call("run", result=tool_result({"out": []}, success=False, error=""), iteration=3),
            reasoning="",
            timestamp=at(2, -8),
        ),
        assistant(
            "Found.",
            reasoning="It was easy.",
            token_count=12,
            receipt={"chars": 0, "é": []},
            usd=0.0125,
        ),
        system("Careful."),
    ]
    appended = await store.timeline.append(talk, given)

    assert appended == placed(given)
    read = await store.timeline.messages(talk)
    assert read == appended
    assert [m.timestamp.isoformat() for m in read] == [m.timestamp.isoformat() for m in given]
    assert [await store.records.get(MESSAGE, m.uuid) for m in given] == appended


async def test_receipts_are_left_out_where_turns_are_read_to_be_shown(
    store: Store, talk: str
) -> None:
    asked = user("Where?")
    answers = [assistant(f"Here {n}.", receipt={"chars": n}) for n in range(2)]
    await store.timeline.append(talk, [asked, *answers, assistant("There.")])

    receipts = [message.receipt for message in await store.timeline.messages(talk)]
    short = await store.timeline.messages(talk, with_receipts=False)
    turns = await store.timeline.turns([asked.uuid])

    assert receipts == [None, {"chars": 0}, {"chars": 1}, None]
    assert [replace(one, receipt=None) for one in await store.timeline.messages(talk)] == short
    assert turns == {asked.uuid: StoredTurn(talk, short)}
    assert (await store.timeline.recent_past(talk, 0, 0)).receipt == {"chars": 1}


@pytest.mark.parametrize("say", [user, system, assistant])
async def test_tool_calls_are_kept_whoever_made_them(store: Store, talk: str, say: Any) -> None:
    given = replace(say("done"), tool_calls=(tool_call("a"), tool_call("b", result=None)))
    [appended] = await store.timeline.append(talk, [given])

    assert appended.tool_calls == given.tool_calls
    assert await store.timeline.messages(talk) == [appended]
    assert await History(store).get_tool_calls(talk) == list(given.tool_calls[::-1])


async def test_any_json_survives_as_argument_and_as_result(store: Store, talk: str) -> None:
    values: list[Any] = [None, True, False, 0, -1, 2**70, 0.1, 1e300, "", "text", [], {}]
    values += [[[], {}, None], {"": {}}]
    calls = [tool_call(arguments=value, result=tool_result(value)) for value in values]
    await store.timeline.append(talk, [user(), assistant("", *calls)])

    [_, stored] = await store.timeline.messages(talk)

    assert stored.tool_calls == tuple(calls)
    for call, value in zip(stored.tool_calls, values, strict=True):
        assert call.result is not None
        assert type(call.arguments) is type(call.result.result) is type(value)


async def test_the_true_size_of_a_cut_result_is_kept(store: Store, talk: str) -> None:
    cut = tool_call(result=tool_result("cut…", result_size_bytes=5_000_000_000))
    whole = tool_call(result=tool_result("héhé", result_size_bytes=0))
    await store.timeline.append(talk, [user(), assistant("", cut, whole)])

    [message] = await store.timeline.messages(talk, limit=1, newest=True)
    sizes = [call.result.result_size_bytes for call in message.tool_calls if call.result]

    assert sizes[0] == 5_000_000_000
    assert sizes[1] == len('"héhé"'.encode())  # counted by the store where it was not given


async def test_appending_nothing_changes_nothing(store: Store, talk: str) -> None:
    before = await store.records.get(CONVERSATION, talk)

    assert await store.timeline.append(talk, []) == []

    assert await store.records.get(CONVERSATION, talk) == before
    with pytest.raises(ConversationNotFound):
        await store.timeline.append("none", [])


async def test_positions_continue_from_one_append_to_the_next(store: Store, talk: str) -> None:
    first = await store.timeline.append(talk, [*exchange("a", "b"), user("c")])
    second = await store.timeline.append(talk, [assistant("d"), user("e")])

    assert [(m.turn_index, m.position) for m in first] == [(0, 0), (0, 1), (1, 2)]
    assert [(m.turn_index, m.position) for m in second] == [(1, 3), (2, 4)]
    assert contents(await store.timeline.messages(talk)) == ["a", "b", "c", "d", "e"]


async def test_order_is_that_of_appending_not_of_the_clock(store: Store, talk: str) -> None:
    late, early = user("told first", timestamp=at(10)), user("told second", timestamp=at(0))
    await store.timeline.append(talk, [late])
    await store.timeline.append(talk, [early])

    read = await store.timeline.messages(talk)

    assert contents(read) == ["told first", "told second"]


async def test_what_precedes_the_first_question_belongs_to_no_turn(store: Store, talk: str) -> None:
    given = [system("rules"), assistant("hello"), user("hi"), assistant("yes?")]
    appended = await store.timeline.append(talk, given)

    assert [m.turn_index for m in appended] == [BEFORE_FIRST_TURN, BEFORE_FIRST_TURN, 0, 0]
    assert (await store.records.get(CONVERSATION, talk)).turn_count == 1
    assert await store.timeline.messages(talk, first_turn=0) == appended[2:]
    assert await store.timeline.messages(talk, last_turn=BEFORE_FIRST_TURN) == appended[:2]


async def test_turn_bounds_are_inclusive_and_limits_apply_within_them(
    store: Store, talk: str
) -> None:
    for i in range(5):
        await store.timeline.append(talk, exchange(f"q{i}", f"a{i}"))
    messages = store.timeline.messages

    assert contents(await messages(talk, 1, 2)) == ["q1", "a1", "q2", "a2"]
    assert contents(await messages(talk, first_turn=4)) == ["q4", "a4"]
    assert contents(await messages(talk, last_turn=0)) == ["q0", "a0"]
    assert contents(await messages(talk, 1, 3, limit=3)) == ["q1", "a1", "q2"]
    assert contents(await messages(talk, 1, 3, limit=3, newest=True)) == ["a2", "q3", "a3"]
    assert contents(await messages(talk, first_turn=4, newest=True)) == ["q4", "a4"]
    assert await messages(talk, 3, 2) == []
    assert await messages(talk, first_turn=5) == []
    assert await messages(talk, limit=0) == []


async def test_the_latest_messages_are_listed_oldest_first(store: Store, talk: str) -> None:
    await store.timeline.append(talk, [*exchange("a", "b"), *exchange("c", "d")])

    assert contents(await store.timeline.messages(talk, limit=3, newest=True)) == ["b", "c", "d"]
    assert contents(await store.timeline.messages(talk, limit=9, newest=True)) == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert await store.timeline.messages(talk, limit=0, newest=True) == []


async def test_the_last_texts_of_conversations_are_read_together(store: Store, talk: str) -> None:
    for other in ("other", "empty"):
        await store.records.put(CONVERSATION, conversation(uuid=other))
    await store.timeline.append(talk, [*exchange("a", "b"), *exchange("c", "d")])
    await store.timeline.append("other", [user("only")])

    found = await store.timeline.last_texts([talk, "other", "empty", "unknown"])

    assert found == {talk: "d", "other": "only"}


async def test_tool_calls_are_listed_newest_first(store: Store, talk: str) -> None:
    names = ["grep", "read", "grep", "edit"]
    calls = [
        tool_call(name, uuid=f"{i}", success=i != 2, timestamp=at(i))
        for i, name in enumerate(names)
    ]
    await store.timeline.append(talk, [user(), assistant("", *calls[:2])])
    await store.timeline.append(talk, [user(), assistant("", calls[2]), assistant("")])
    await store.timeline.append(talk, [assistant("", calls[3])])
    tool_calls = partial(History(store).get_tool_calls, talk)

    assert await tool_calls() == calls[::-1]
    assert [c.uuid for c in await tool_calls("grep")] == ["2", "0"]
    assert [c.uuid for c in await tool_calls(success=True)] == ["3", "1", "0"]
    assert [c.uuid for c in await tool_calls("grep", False)] == ["2"]
    assert [c.uuid for c in await tool_calls(limit=2)] == ["3", "2"]
    assert await tool_calls(limit=0) == []
    assert await tool_calls("Grep") == []


async def test_the_conversations_of_messages_are_returned(store: Store, talk: str) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="other"))
    await store.timeline.append(talk, [user(uuid="m1"), assistant(uuid="m2")])
    await store.timeline.append("other", [user(uuid="m3")])

    told = await store.records.get_many(MESSAGE_PLACE, ["m3", "m1", "none", "m2", "m1"])

    owners = {"m1": talk, "m2": talk, "m3": "other"}
    assert told == {uuid: MessagePlace(uuid, owner) for uuid, owner in owners.items()}
    assert await store.records.get_many(MESSAGE_PLACE, []) == {}


def _a_message() -> list[Message]:
    return [user(uuid="taken")]


def _a_call() -> list[Message]:
    return [user(), assistant("", tool_call(uuid="taken call"))]


def _a_result() -> list[Message]:
    return [user(), assistant("", tool_call(result=tool_result(uuid="taken result")))]


@pytest.mark.parametrize("make", [_a_message, _a_call, _a_result])
@pytest.mark.parametrize("target", ["talk", "other"])
async def test_an_append_with_a_taken_id_stores_nothing(
    store: Store, talk: str, make: Any, target: str
) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="other"))
    taken = tool_call(uuid="taken call", result=tool_result(uuid="taken result"))
    await store.timeline.append(talk, [user(uuid="taken"), assistant("", taken)])
    before = await counts(store), await store.records.get(CONVERSATION, target)

    with pytest.raises(DuplicateId):
        await store.timeline.append(target, [user("first, good"), *make()])

    assert (await counts(store), await store.records.get(CONVERSATION, target)) == before


async def test_one_append_cannot_use_an_id_twice(store: Store, talk: str) -> None:
    twins = [user(uuid="twin"), assistant(uuid="twin")]
    calls = [user(), assistant("", tool_call(uuid="twin"), tool_call(uuid="twin"))]

    for given in (twins, calls):
        with pytest.raises(DuplicateId):
            await store.timeline.append(talk, given)

    assert await store.timeline.messages(talk) == []
    assert (await store.records.get(CONVERSATION, talk)).message_count == 0


async def test_an_append_whose_second_message_is_bad_stores_nothing(
    store: Store, talk: str
) -> None:
    no_zone = assistant(timestamp=START.replace(tzinfo=None))
    no_turn = assistant(turn_index=7)
    before = await counts(store), await store.records.get(CONVERSATION, talk)

    with pytest.raises(InvalidTime):
        await store.timeline.append(talk, [user("good"), no_zone])
    with pytest.raises(TurnNotFound):
        await store.timeline.append(talk, [user("good"), no_turn])

    assert (await counts(store), await store.records.get(CONVERSATION, talk)) == before


async def test_a_failed_append_leaves_its_ids_free(store: Store, talk: str) -> None:
    good = user("good", timestamp=START + timedelta(minutes=1))
    with pytest.raises(TurnNotFound):
        await store.timeline.append(talk, [good, assistant(turn_index=7)])

    [stored] = await store.timeline.append(talk, [good])

    assert stored == replace(good, turn_index=0, position=0)
