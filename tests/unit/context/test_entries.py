"""How entries look in a context."""

from __future__ import annotations

from ragforge.context.entries import format_turn
from ragforge.domain.turns import group_into_turns
from tests.fakes.builders import assistant, tool_call, tool_result, user


def test_a_turn_is_shown_with_the_tool_calls_of_all_its_messages() -> None:
    read = tool_call("read_file", result=tool_result("the text"))
    grep = tool_call("grep_files", result=tool_result("two lines"))
    [turn] = group_into_turns(
        [user("Read it"), assistant("", read), assistant("", grep), assistant("Here it is.")]
    )

    shown = format_turn(turn, 1_000).split("\n")

    assert shown[0] == "User: Read it"
    assert [line.split()[:2] for line in shown[1:3]] == [
        ["Tool:", "read_file"],
        ["Tool:", "grep_files"],
    ]
    assert shown[-1] == "Assistant: Here it is."
