"""Remembered: whether a message has to do with what was said before."""

from __future__ import annotations

import pytest

from ragforge.domain.hits import TurnMatch, WordMatches
from ragforge.search.memory_relevance import LEAST, asks_for_the_past, held_share, memory_relevance


def found(*held: str, turns: int = 100, aside: frozenset[str] = frozenset()) -> WordMatches:
    """Return one turn that holds these words, which nobody else does."""
    holder = TurnMatch("t", "c", 0, 20, dict.fromkeys(held, 1))
    return WordMatches((holder,), dict.fromkeys(held, 1), turns, aside)


def test_words_that_nobody_said_count_against_a_message() -> None:
    oven = found("oven")

    assert held_share(["oven"], oven) == 1.0
    assert held_share(["oven", "dough", "sugar", "egg"], oven) < 0.3
    assert memory_relevance(["oven", "dough", "sugar", "egg", "pan", "flour"], oven, 0.0) < LEAST
    assert memory_relevance(["oven", "temperatur"], oven, 0.2) > LEAST


def test_a_share_means_the_same_in_a_small_and_in_a_large_memory() -> None:
    words = ["lease", "renew"]

    small, large = held_share(words, found("lease", turns=2)), held_share(words, found("lease"))

    assert small == pytest.approx(large)


def test_words_too_common_to_be_looked_for_say_nothing() -> None:
    assert held_share(["lease", "file"], found("lease", aside=frozenset({"file"}))) == 1.0


def test_meaning_alone_can_say_enough() -> None:
    assert memory_relevance(["nobody"], WordMatches(turn_count=9), 0.6) > 0.5
    assert memory_relevance(["nobody"], WordMatches(turn_count=9), 0.0) < LEAST
    assert memory_relevance([], WordMatches(), None) < LEAST


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
    assert asks_for_the_past(message)


@pytest.mark.parametrize(
    "message", ["How do I bake an apple pie?", "Wo ist das hier definiert?", "next page of results"]
)
def test_other_messages_do_not_ask_for_it(message: str) -> None:
    assert not asks_for_the_past(message)
