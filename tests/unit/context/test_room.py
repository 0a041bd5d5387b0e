"""Room: how many of the latest turns are read for a context."""

from __future__ import annotations

from itertools import takewhile

from ragforge.context.select import MOST_RECENT_TURNS, Budget, Room
from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.domain.turns import Turn


def turn(asked: int, answered: int, result: int = 0) -> Turn:
    """A turn of so many characters."""
    call = ToolCall(
        tool_name="read_file", arguments={}, result=ToolResult(success=True, result="x" * result)
    )
    calls = (call,) if result else ()
    said = Message(role="assistant", content="a" * answered, tool_calls=calls)
    return Turn(Message(role="user", content="q" * asked), (said,))


def taken(turns: list[Turn], queries: int, recent: int) -> int:
    room = Room(Budget(total=10**6, queries=queries, recent=recent, code=0, history=0))
    return len(list(takewhile(room.takes, turns)))


def test_turns_are_read_until_neither_they_nor_their_questions_fit() -> None:
    turns = [turn(asked=100, answered=900)] * 200

    assert 10 <= taken(turns, queries=0, recent=10_000) <= 12
    assert 48 <= taken(turns, queries=5_000, recent=10_000) <= 50


def test_long_results_of_tools_which_are_shown_short_do_not_count() -> None:
    turns = [turn(asked=100, answered=900, result=100_000)] * 200

    assert 10 <= taken(turns, queries=0, recent=10_000) <= 12


def test_of_short_turns_no_more_are_read_than_are_ever_shown() -> None:
    assert taken([turn(1, 1)] * 200, queries=0, recent=10_000) == MOST_RECENT_TURNS


def test_the_newest_turn_is_always_looked_at() -> None:
    assert taken([turn(10**6, 10**6)] * 3, queries=10, recent=10) == 1
