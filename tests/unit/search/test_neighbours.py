"""Neighbours: a turn is found by its words, and by those of the turns next to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.domain.hits import TurnMatch, WordMatches
from ragforge.search.turn_rank import (
    REACH,
    measure_borrowed,
    measure_coverage,
    measure_lent,
    merge_groups,
    rank_by_own_words,
    rank_turns,
    weigh_words,
)

BORROWED = measure_borrowed(10)
LENT = measure_lent(10)


def holder(index: int, *words: str, conversation: str = "c", length: int = 10) -> TurnMatch:
    holds = {word: min(words.count(word), 2) for word in words}
    return TurnMatch(f"{conversation}{index}", conversation, index, length, holds)


def found(*holders: TurnMatch, turns: int = 100) -> WordMatches:
    words = {word for one in holders for word in one.words}
    counts = {word: sum(word in one.words for one in holders) for word in words}
    return WordMatches(holders, counts, turns)


def scores(what: WordMatches) -> dict[str, float]:
    return {hit.id: hit.score for hit in rank_turns(what)}


def test_a_turn_that_holds_everything_at_the_usual_length_scores_one() -> None:
    assert scores(found(holder(0, "lease", "lock"))) == pytest.approx({"c0": 1.0})


def test_one_of_the_words_for_a_thing_is_as_good_as_all() -> None:
    what = found(holder(0, "delete", "cookie"), holder(9, "delete", "remove"))

    got = scores(merge_groups(what, [{"delete", "remove", "supprimer"}]))

    assert got["c0"] == pytest.approx(1.0)
    assert got["c9"] < 0.5


def test_a_neighbour_is_found_with_what_distance_leaves() -> None:
    hits = rank_turns(found(holder(0, "lease"), holder(1), holder(2)))

    assert [(hit.id, hit.has_words) for hit in hits] == [("c0", True), ("c1", False), ("c2", False)]
    assert [hit.score for hit in hits] == pytest.approx([1.0, LENT * BORROWED, LENT * BORROWED**2])


def test_a_long_turn_borrows_less_than_a_short_one() -> None:
    got = scores(found(holder(0, length=400), holder(1, "lease"), holder(2, length=10)))

    assert got["c0"] < 0.5 < got["c2"]


def test_a_long_turn_lends_less_than_a_short_one() -> None:
    got = scores(
        found(holder(0, "lease", length=2_000), holder(1), holder(10, "lease"), holder(11))
    )

    assert got["c11"] > 5 * got["c1"]


def test_single_turns_are_ranked_by_their_own_words() -> None:
    got = rank_by_own_words(
        found(holder(0, "lease", "lock"), holder(1, "lease"), holder(2, "lease", length=90))
    )

    assert list(got) == ["c0", "c1", "c2"]
    assert got["c0"] > got["c1"] > got["c2"] > 0
    assert rank_by_own_words(WordMatches()) == {}


def test_words_of_the_turns_before_and_after_come_together() -> None:
    got = scores(
        found(holder(0, "lease"), holder(1, "lock"), holder(2, "renew"), holder(9, "lock"))
    )

    assert max(got, key=lambda turn: got[turn]) == "c1"
    assert got["c1"] > got["c9"]


def test_a_word_counts_once_where_it_is_nearest() -> None:
    got = scores(found(holder(1, "lease"), holder(2, "lease"), holder(3, "lease"), turns=10))

    assert list(got.values()) == pytest.approx([1.0, 1.0, 1.0])


def test_nothing_is_lent_further_than_the_reach() -> None:
    far = found(holder(0, "lease"), holder(REACH), holder(REACH + 1))

    assert scores(far).keys() == {"c0", f"c{REACH}"}


def test_nothing_is_lent_to_another_conversation() -> None:
    got = scores(found(holder(0, "lease"), holder(1, conversation="d")))

    assert got.keys() == {"c0"}


def test_a_rare_word_is_worth_more_than_a_common_one() -> None:
    many = [holder(10 * n, "the") for n in range(5)]

    got = scores(found(*many, holder(100, "lease"), turns=20))

    assert got["c100"] > max(got[one.id] for one in many)


def test_a_word_that_occurs_often_counts_more_and_a_long_turn_less() -> None:
    got = scores(
        found(holder(0, "lease", "lease"), holder(10, "lease"), holder(20, "lease", length=100))
    )

    assert list(got) == ["c0", "c10", "c20"]
    assert got["c0"] > got["c10"] > got["c20"]


def test_no_words_find_nothing() -> None:
    assert rank_turns(WordMatches()) == []
    assert measure_coverage(["lease"], {}) == 0.0


def test_coverage_is_the_share_of_the_worth() -> None:
    worth = weigh_words(WordMatches(counts={"lease": 1, "the": 90, "never": 0}, turn_count=100))

    assert "never" not in worth
    assert measure_coverage(["lease", "the", "other"], worth) == pytest.approx(1.0)
    assert measure_coverage(["lease"], worth) > 0.9
    assert measure_coverage(["other"], worth) == 0.0


HOLDERS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.lists(st.sampled_from("xyz"))),
    max_size=12,
    unique_by=lambda one: one[:2],
)


@given(HOLDERS)
def test_scores_are_between_zero_and_one_and_ordered(
    given: list[tuple[str, int, list[str]]],
) -> None:
    hits = rank_turns(found(*(holder(n, *words, conversation=c) for c, n, words in given)))

    assert len({hit.id for hit in hits}) == len(hits)
    assert all(0 < hit.score <= 1 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@given(HOLDERS)
def test_each_word_counts_where_it_is_held_nearest(given: list[tuple[str, int, list[str]]]) -> None:
    what = found(*(holder(n, *words, conversation=c) for c, n, words in given))
    worth, k1 = weigh_words(what), 1.2

    def lent(word: str, by: TurnMatch, to: TurnMatch) -> float:
        steps = abs(by.turn_index - to.turn_index)
        if by.conversation_id != to.conversation_id or steps > REACH or word not in by.words:
            return 0.0
        times = by.words[word]
        own = worth[word] * times * (k1 + 1) / (times + k1)
        return own * LENT * BORROWED**steps if steps else own  # all are as long

    sums = {
        one.id: sum(max(lent(word, by, one) for by in what.matches) for word in worth)
        for one in what.matches
    }
    whole = max(sum(worth.values()), *sums.values()) if worth else 1.0

    assert scores(what) == pytest.approx({id_: s / whole for id_, s in sums.items() if s})
