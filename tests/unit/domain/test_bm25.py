"""BM25: what a word is worth, and how often it counts."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ragforge.domain.bm25 import K1, saturate, weigh_times, weigh_word


def test_a_word_that_occurs_once_in_a_text_of_the_usual_length_counts_once() -> None:
    assert weigh_times(1, saturate(100, usual=100)) == pytest.approx(1.0)


def test_repeating_a_word_adds_less_and_less_and_never_more_than_a_limit() -> None:
    counts = [weigh_times(times) for times in range(1, 50)]
    gains = [more - less for less, more in pairwise(counts)]

    assert gains == sorted(gains, reverse=True)
    assert min(gains) > 0
    assert counts[-1] < K1 + 1


def test_a_word_counts_more_in_a_short_text_than_in_a_long_one() -> None:
    short, usual, long = (weigh_times(2, saturate(n, usual=100)) for n in (50, 100, 200))

    assert short > usual > long


def test_a_rare_word_is_worth_more_and_none_is_worth_nothing() -> None:
    worth = [weigh_word(100, containing) for containing in (1, 10, 50, 100)]

    assert worth == sorted(worth, reverse=True)
    assert worth[-1] > 0
