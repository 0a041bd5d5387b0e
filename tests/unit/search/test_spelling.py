"""British words are searched for in their American spelling too."""

from __future__ import annotations

import pytest

from ragforge.search.question.wording import Wording, add_spellings, respell
from ragforge.search.words.tokenise import WORDS


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("licence", "license"),
        ("Behaviours", "behaviors"),
        ("serialised", "serialized"),
        ("normalisation", "normalization"),
        ("analyse", "analyze"),
        ("cancelled", "canceled"),
    ],
)
def test_a_british_word_has_an_american_spelling(british: str, american: str) -> None:
    assert respell(british) == american


@pytest.mark.parametrize("word", ["raise", "parser", "module", "install", "called", "noise"])
def test_other_words_have_one_spelling(word: str) -> None:
    assert respell(word) is None


def test_both_spellings_are_one_word_of_the_question() -> None:
    asked = add_spellings("which licence", WORDS)

    assert asked.text == "which licence license"
    assert asked.groups == (frozenset({"licenc", "licens"}),)


def test_a_question_without_such_words_stays_as_it_is() -> None:
    assert add_spellings("which license", WORDS) == Wording("which license", "which license")
