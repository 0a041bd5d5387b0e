"""Remembered: whether a message has to do with what was said before."""

from __future__ import annotations

import pytest

from ragforge.domain.hits import TurnMatch, WordMatches
from ragforge.search.memory_relevance import (
    MIN_RELEVANCE,
    asks_about_past,
    estimate_memory_relevance,
    gather_memory_evidence,
    measure_unknown,
)


def found(*held: str, turns: int = 100, aside: frozenset[str] = frozenset()) -> WordMatches:
    """Return one turn that holds these words, which nobody else does."""
    holder = TurnMatch("t", "c", 0, 20, dict.fromkeys(held, 1))
    return WordMatches((holder,), dict.fromkeys(held, 1), turns, aside)


def test_words_that_nobody_said_count_against_a_message() -> None:
    oven = found("oven")
    recipe = ["oven", "dough", "sugar", "egg", "pan", "flour"]

    assert measure_unknown(["oven"], oven) == 0.0
    assert measure_unknown(recipe, oven) > 0.7
    assert estimate_memory_relevance(recipe, oven, 0.0) < MIN_RELEVANCE
    assert estimate_memory_relevance(["oven", "temperatur"], oven, 0.6) > MIN_RELEVANCE


def test_several_rare_words_in_one_turn_are_enough() -> None:
    together = found("cookie", "domain", "login")

    assert estimate_memory_relevance(["cookie", "domain", "login"], together) > MIN_RELEVANCE
    assert estimate_memory_relevance(["cookie"], found("cookie")) < MIN_RELEVANCE


def test_the_evidence_is_the_same_in_a_small_and_in_a_large_memory() -> None:
    words = ["lease", "renew"]

    small = gather_memory_evidence(words, found("lease", turns=2), None)
    large = gather_memory_evidence(words, found("lease"), None)

    assert small == pytest.approx(large)


def test_words_too_common_to_be_looked_for_say_nothing() -> None:
    aside = found("lease", aside=frozenset({"file"}))

    assert measure_unknown(["lease", "file"], aside) == 0.0


def test_meaning_alone_can_say_enough() -> None:
    assert estimate_memory_relevance([], WordMatches(turn_count=9), 0.6) < 0.5
    assert estimate_memory_relevance(["cookie"], found("cookie"), 0.6) > 0.7
    assert estimate_memory_relevance(["nobody"], WordMatches(turn_count=9), 0.0) < MIN_RELEVANCE


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
