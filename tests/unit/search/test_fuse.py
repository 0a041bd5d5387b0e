"""Fusing: one ranking out of two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragforge.domain.hits import Match
from ragforge.search.fuse import convex


def matches(**scores: float) -> list[Match]:
    return [Match(name, score) for name, score in scores.items()]


def test_what_both_searches_find_comes_before_what_one_finds() -> None:
    fused = convex(matches(words=9, both=8, last=1), matches(both=0.9, meaning=0.7), 0.5)

    assert [item.id for item in fused] == ["both", "words", "last", "meaning"]
    assert fused[0].found_by == ("words", "meaning")
    assert fused[1].found_by == ("words",)
    assert fused[3].found_by == ("meaning",)


def test_without_vectors_the_order_of_words_stays() -> None:
    fused = convex(matches(a=3, b=2, c=0.1), [], 0.3)

    assert [item.id for item in fused] == ["a", "b", "c"]


def test_hits_of_one_score_are_all_kept() -> None:
    assert [item.score for item in convex(matches(a=0, b=0), [], 0.0)] == [1.0, 1.0]


FOUND = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1e6), max_size=8)


@given(FOUND, FOUND, st.floats(0, 1))
def test_everything_found_is_ranked_once_between_nought_and_one(
    words: dict[str, float], vectors: dict[str, float], weight: float
) -> None:
    fused = convex(matches(**words), matches(**vectors), weight)

    assert {item.id for item in fused} == {*words, *vectors}
    assert len(fused) == len({item.id for item in fused})
    assert all(0 <= item.score <= 1.000001 for item in fused)
    assert [item.score for item in fused] == sorted((item.score for item in fused), reverse=True)
