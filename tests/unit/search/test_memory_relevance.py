"""Remembered: whether a message has to do with what was said before."""

from __future__ import annotations

import pytest

from ragforge.domain.hits import TurnMatch, WordMatches
from ragforge.search.memory_relevance import (
    MIN_RELEVANCE,
    asks_about_past,
    estimate_memory_relevance,
    measure_word_share,
)


def found(*held: str, turns: int = 100, aside: frozenset[str] = frozenset()) -> WordMatches:
    """Return one turn that holds these words, which nobody else does."""
    holder = TurnMatch("t", "c", 0, 20, dict.fromkeys(held, 1))
    return WordMatches((holder,), dict.fromkeys(held, 1), turns, aside)


def test_words_that_nobody_said_count_against_a_message() -> None:
    oven = found("oven")

    assert measure_word_share(["oven"], oven) == 1.0
    assert measure_word_share(["oven", "dough", "sugar", "egg"], oven) < 0.3
    assert (
        estimate_memory_relevance(["oven", "dough", "sugar", "egg", "pan", "flour"], oven, 0.0)
        < MIN_RELEVANCE
    )
    assert estimate_memory_relevance(["oven", "temperatur"], oven, 0.2) > MIN_RELEVANCE


def test_a_share_means_the_same_in_a_small_and_in_a_large_memory() -> None:
    words = ["lease", "renew"]

    small, large = (
        measure_word_share(words, found("lease", turns=2)),
        measure_word_share(words, found("lease")),
    )

    assert small == pytest.approx(large)


def test_words_too_common_to_be_looked_for_say_nothing() -> None:
    assert measure_word_share(["lease", "file"], found("lease", aside=frozenset({"file"}))) == 1.0


def test_meaning_alone_can_say_enough() -> None:
    assert estimate_memory_relevance(["nobody"], WordMatches(turn_count=9), 0.6) > 0.5
    assert estimate_memory_relevance(["nobody"], WordMatches(turn_count=9), 0.0) < MIN_RELEVANCE
    assert estimate_memory_relevance([], WordMatches(), None) < MIN_RELEVANCE


@pytest.mark.parametrize(
    "message",
    [
        "What did we decide yesterday?",
        "do you remember the name of that flag",
        "Qu'est-ce qu'on avait dit sur le cache ?",
        "Was haben wir gestern besprochen?",
        "¿Qué decidimos la última vez?",
        "Ti ricordi cosa abbiamo deciso?",
    ],
)
def test_who_asks_for_the_past_gets_it(message: str) -> None:
    assert asks_about_past(message)


@pytest.mark.parametrize(
    "message", ["How do I bake an apple pie?", "Wo ist das hier definiert?", "next page of results"]
)
def test_other_messages_do_not_ask_for_it(message: str) -> None:
    assert not asks_about_past(message)
