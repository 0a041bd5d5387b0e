"""Fusing: one ranking from two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.domain.hits import Match
from ragforge.search.turn_rank import mix_scores, scale_above


def test_what_both_searches_find_comes_before_what_one_finds() -> None:
    fused = mix_scores({"words": 0.9, "both": 0.8, "last": 0.1}, {"both": 0.9, "meaning": 0.7}, 0.5)

    assert list(fused) == ["both", "words", "meaning", "last"]
    assert fused["both"] == pytest.approx(0.85)


def test_if_one_search_finds_nothing_the_other_stays_as_it_is() -> None:
    assert mix_scores({"a": 0.9, "b": 0.2}, {}, 0.3) == {"a": 0.9, "b": 0.2}
    assert mix_scores({}, {"a": 0.9, "b": 0.2}, 0.3) == {"a": 0.9, "b": 0.2}


def test_scores_are_counted_from_the_minimum_that_matters() -> None:
    found = scale_above([Match("same", 1.0), Match("half", 0.8), Match("hardly", 0.6)], 0.6, 9)

    assert found == pytest.approx({"same": 1.0, "half": 0.5, "hardly": 0.0})


def test_the_last_of_a_search_that_was_cut_off_counts_nothing() -> None:
    found = scale_above([Match("first", 0.9), Match("last", 0.8)], 0.6, 2)

    assert found == pytest.approx({"first": 0.5, "last": 0.0})


FOUND = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1), max_size=8)


@given(FOUND, FOUND, st.floats(0, 1))
def test_everything_found_is_ranked_once_between_zero_and_one(
    words: dict[str, float], meaning: dict[str, float], weight: float
) -> None:
    fused = mix_scores(words, meaning, weight)

    assert fused.keys() == {*words, *meaning}
    assert all(0 <= score <= 1.000001 for score in fused.values())
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


@given(st.lists(st.floats(0, 1)), st.floats(0, 1), st.integers(0, 9))
def test_scores_above_the_minimum_are_between_zero_and_one(
    scores: list[float], minimum: float, limit: int
) -> None:
    matches = [Match(str(n), score) for n, score in enumerate(scores)]

    found = scale_above(matches, minimum, limit)

    assert len(found) == len(matches)
    assert all(0 <= score <= 1 for score in found.values())
