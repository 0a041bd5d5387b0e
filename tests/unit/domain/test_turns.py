"""Turns: nothing that was said or done is lost when messages are grouped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragforge.domain.conversations import Message
from ragforge.domain.turns import (
    format_turn_for_embedding,
    format_turn_for_search,
    format_window_for_embedding,
    group_into_turns,
)
from tests.fakes.builders import assistant, system, tool_call, tool_result, user


def test_all_assistant_messages_and_tool_calls_up_to_the_next_question_are_one_turn() -> None:
    read, grep = tool_call("read_file"), tool_call("grep_files")
    messages = [
        user("Read it"),
        assistant("", read),
        assistant("", grep),
        assistant("Here it is."),
        user("Thanks"),
    ]

    first, second = group_into_turns(messages)

    assert first.tool_calls == (read, grep)
    assert first.answer == "Here it is."
    assert second.answer == ""


def test_the_answer_is_the_last_thing_said_that_is_not_empty() -> None:
    [turn] = group_into_turns([user(), assistant("Let me see."), assistant("  ", tool_call())])

    assert turn.answer == "Let me see."


def test_what_precedes_the_first_question_belongs_to_no_turn() -> None:
    [turn] = group_into_turns([system(), assistant("Hello!"), user("Hi")])

    assert turn.user.content == "Hi"
    assert turn.replies == ()


def test_stored_messages_of_two_terminals_are_not_mixed() -> None:
    messages = [
        user("A?", turn_index=0),
        user("B?", turn_index=1),
        assistant("A!", turn_index=0),
        assistant("B!", turn_index=1),
    ]

    assert [turn.answer for turn in group_into_turns(messages)] == ["A!", "B!"]


def test_a_turn_is_embedded_by_its_question_its_answer_and_cut_results() -> None:
    call = tool_call("grep_files", result=tool_result("x" * 300))
    [turn] = group_into_turns([user("Q"), assistant("hm", call), assistant("A")])

    assert (
        format_turn_for_embedding(turn)
        == f"User: Q\nAssistant: A\nTools used:\n- grep_files: {'x' * 200}"
    )
    assert len(format_turn_for_embedding(group_into_turns([user("Q" * 9_000)])[0])) == 4_000
    assert format_turn_for_search(turn) == "Q\nhm\nA"  # what was done is a separate passage


def test_a_short_turn_is_embedded_with_the_two_before_it() -> None:
    turns = group_into_turns([user(text) for text in ("A", "B", "C", "D")])

    window = format_window_for_embedding(turns[3], turns[:3])

    assert window == "\n".join(f"User: {text}\nAssistant: " for text in ("B", "C", "D"))


def test_a_long_turn_neither_takes_others_into_its_window_nor_fills_theirs() -> None:
    short, long, last = group_into_turns([user("A"), user("L" * 900), user("C")])

    assert format_window_for_embedding(long, [short]) == f"User: {'L' * 900}\nAssistant: "
    assert format_window_for_embedding(last, [short, long]) == "User: C\nAssistant: "


def test_the_beginning_of_a_long_answer_is_embedded() -> None:
    call = tool_call("grep_files", result=tool_result("x" * 300))
    [turn] = group_into_turns([user("Q"), assistant("", call), assistant("a" * 900)])

    window = format_window_for_embedding(turn, [])

    assert window == f"User: Q\nAssistant: {'a' * 500}\n- grep_files: {'x' * 200}"


MESSAGES = st.lists(
    st.builds(
        lambda role, content, calls: Message(
            role, content, tool_calls=() if role == "user" else tuple(calls)
        ),
        st.sampled_from(["user", "assistant", "system"]),
        st.text(max_size=5),
        st.lists(st.builds(tool_call, st.sampled_from(["a", "b"])), max_size=3),
    ),
    max_size=12,
)


@given(MESSAGES)
def test_no_question_and_no_call_after_it_is_ever_lost(messages: list[Message]) -> None:
    turns = group_into_turns(messages)

    asked = [message for message in messages if message.role == "user"]
    assert [turn.user for turn in turns] == asked
    first = messages.index(asked[0]) if asked else len(messages)
    calls = [call for message in messages[first:] for call in message.tool_calls]
    assert [call for turn in turns for call in turn.tool_calls] == calls
