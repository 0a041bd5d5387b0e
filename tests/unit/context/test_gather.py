"""Gathering: the newest and the best, never more than the budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragforge.context.gather import best_within, newest_within
from ragforge.domain.turns import Turn
from ragforge.memory.recall import TurnHit
from tests.fakes.builders import user


def turns(sizes: list[int]) -> list[Turn]:
    return [Turn(user("x" * size)) for size in sizes]


def test_the_newest_turns_that_fit_are_kept_oldest_first() -> None:
    kept = newest_within(turns([50, 10, 20, 30]), 60)

    assert [turn.char_count for turn in kept] == [10, 20, 30]


def test_a_hit_that_is_too_large_makes_way_for_a_smaller_one() -> None:
    hits = [TurnHit(turn, "c", 1.0, 1.0, ("words",)) for turn in turns([70, 200, 20])]

    assert [hit.turn.char_count for hit in best_within(hits, 100)] == [70, 20]


@given(st.lists(st.integers(0, 50)), st.integers(0, 200))
def test_the_budget_is_never_exceeded(sizes: list[int], budget: int) -> None:
    kept = newest_within(turns(sizes), budget)

    assert sum(turn.char_count for turn in kept) <= budget
    assert [turn.char_count for turn in kept] == sizes[len(sizes) - len(kept) :]
