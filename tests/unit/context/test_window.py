"""Which of the newest turns are shown word for word."""

from __future__ import annotations

from itertools import pairwise, takewhile

from hypothesis import given
from hypothesis import strategies as st

from ragforge.context.replay import (
    TURN_CHARS,
    Replays,
    TurnsToRead,
    Window,
    WindowLimits,
    choose_window,
    count_chars,
    replay_window,
)
from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.domain.receipts import Layout
from ragforge.domain.turns import Turn

LIMITS = WindowLimits.of(recent=1_000, total=10_000)


def turn(index: int, chars: int = 200, result: int = 0) -> Turn:
    calls = (ToolCall("read_file", {}, ToolResult(True, "r" * result)),) if result else ()
    said = Message("assistant", "a" * (chars - 10), tool_calls=calls)
    return Turn(Message("user", "q" * 10, turn_index=index), (said,))


def chars_of(turns: list[Turn], window: Window) -> int:
    shown = replay_window(turns, window, LIMITS, Replays())
    return sum(TURN_CHARS + sum(map(count_chars, messages)) for messages in shown)


def test_a_short_conversation_is_shown_whole() -> None:
    turns = [turn(n) for n in range(4)]
    assert choose_window(turns, {0}, None, LIMITS, Replays()) == Window(0, 0)


def test_the_window_grows_at_its_end_until_it_is_too_long_and_then_a_stretch_leaves() -> None:
    starts = range(0, 100, 4)  # a summary covers four turns
    before: Window | None = None
    firsts = []
    for count in range(1, 60):
        turns = [turn(n) for n in range(count)]
        before = choose_window(turns, starts, before, LIMITS, Replays())
        firsts.append(before.first)
        assert chars_of(turns, before) <= LIMITS.max_chars

    moves = [after for first, after in pairwise(firsts) if after != first]
    assert moves
    assert all(first in starts for first in moves)
    assert len(moves) < len(firsts) / 4


def test_there_is_at_least_the_budgets_worth_whether_or_not_it_was_summarised() -> None:
    turns = [turn(n) for n in range(40)]
    window = choose_window(turns, range(0, 41, 4), None, LIMITS, Replays())
    assert LIMITS.min_chars <= chars_of(turns, window) <= LIMITS.max_chars


def test_long_results_are_shortened_before_a_turn_leaves() -> None:
    turns = [turn(n, result=2_000) for n in range(5)]
    window = choose_window(turns, range(5), Window(0, 0), LIMITS, Replays())
    assert window == Window(0, 4)


def test_where_no_summary_was_made_in_time_the_window_still_keeps_to_its_limit() -> None:
    turns = [turn(n) for n in range(60)]
    window = choose_window(turns, {0}, Window(0, 0), LIMITS, Replays())
    assert LIMITS.min_chars <= chars_of(turns, window) <= LIMITS.max_chars


@given(st.lists(st.integers(20, 6_000), min_size=1, max_size=30), st.integers(0, 30))
def test_the_newest_turn_is_always_shown_and_the_limit_always_holds(
    sizes: list[int], first: int
) -> None:
    turns = [turn(n, size) for n, size in enumerate(sizes)]
    window = choose_window(turns, {0, 3, 7, 12}, Window(first, first), LIMITS, Replays())
    assert window.first <= len(turns) - 1
    assert window.whole_from <= len(turns) - 1
    assert chars_of(turns, window) <= LIMITS.max_chars + TURN_CHARS + 60


def test_turns_are_read_as_far_as_the_window_before_and_some_questions_beyond() -> None:
    layout = Layout((), first_turn=30, whole_from=30, same_chars=0)
    turns = [turn(n) for n in range(50)]
    reader = TurnsToRead(LIMITS, 50, Replays(), layout)

    read = [one.user.turn_index for one in takewhile(reader.wants, reversed(turns))]

    assert read == [*range(49, 24, -1)]  # 30, and five questions of ten characters


def test_the_newest_turn_is_always_read() -> None:
    reader = TurnsToRead(WindowLimits.of(10, 100), 0, Replays(), None)
    assert len(list(takewhile(reader.wants, [turn(2, 5_000), turn(1, 5_000)]))) == 1
