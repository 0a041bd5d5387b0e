"""Memory relevance: whether a message is about something that was said before."""

from __future__ import annotations

import pytest

from ragforge.domain.hits import MIN_RELEVANCE, TurnMatch, WordMatches
from ragforge.search.memory_relevance import (
    asks_about_past,
    estimate_memory_relevance,
    gather_memory_evidence,
    measure_unknown,
)
from ragforge.search.question.wording import Wording, expand_query
from ragforge.search.words.tokenise import WORDS


def found(*held: str, turns: int = 1_000, aside: frozenset[str] = frozenset()) -> WordMatches:
    """Return one turn that holds these words, which no other turn does."""
    holder = TurnMatch("t", "c", 0, 20, dict.fromkeys(held, 1))
    return WordMatches((holder,), dict.fromkeys(held, 1), turns, aside)


def ask(text: str, what: WordMatches, nearest: float | None = None) -> float:
    return estimate_memory_relevance(expand_query(text, WORDS), what, nearest)


def test_words_that_were_not_said_count_against_a_message() -> None:
    oven = found("oven")
    recipe = "oven dough sugar egg pan flour"

    assert measure_unknown(expand_query("oven", WORDS), oven) == 0.0
    assert measure_unknown(expand_query(recipe, WORDS), oven) > 0.7
    assert ask(recipe, oven, 0.0) < MIN_RELEVANCE
    assert ask("oven heat", oven, 0.7) > MIN_RELEVANCE


def test_a_short_question_whose_words_are_close_together_is_relevant() -> None:
    assert ask("cookie?", found("cooki")) > MIN_RELEVANCE
    assert ask("cookie?", found("cooki"), 0.0) > MIN_RELEVANCE  # however far the turn is
    assert ask("cookie banner of bank", found("cooki"), 0.0) < MIN_RELEVANCE


def test_words_that_mean_the_same_in_two_languages_are_one_word() -> None:
    file = found("file")
    asked = expand_query("wo liegt die Datei?", WORDS)

    assert measure_unknown(asked, file) < measure_unknown(Wording(asked.text, asked.text), file)


def test_unknown_words_count_less_in_a_small_memory_and_held_ones_the_same() -> None:
    words = ["lease", "renew"]

    small = gather_memory_evidence(words, found("lease", turns=2), None)
    large = gather_memory_evidence(words, found("lease"), None)

    assert small.held == pytest.approx(large.held)
    assert small.unknown < 0.1 < large.unknown


def test_words_too_common_to_be_looked_for_say_nothing() -> None:
    aside = found("leas", aside=frozenset({"file"}))

    assert measure_unknown(expand_query("lease file", WORDS), aside) == 0.0


def test_meaning_says_more_than_words() -> None:
    half = "cookie banner"

    assert ask(half, found("cooki"), 0.8) > 0.6
    assert ask(half, found("cooki"), 0.0) < 0.1
    assert ask("nobody", WordMatches(turn_count=9), 0.0) < MIN_RELEVANCE
    assert ask("", WordMatches(), None) < MIN_RELEVANCE


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
def test_a_message_that_asks_for_the_past_is_recognised(message: str) -> None:
    assert asks_about_past(message)


@pytest.mark.parametrize(
    "message", ["How do I bake an apple pie?", "Wo ist das hier definiert?", "next page of results"]
)
def test_other_messages_do_not_ask_for_it(message: str) -> None:
    assert not asks_about_past(message)
