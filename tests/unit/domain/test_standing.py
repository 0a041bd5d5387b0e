"""Standing instructions: recognised by how they are said."""

from __future__ import annotations

import pytest

from ragforge.domain.turns import (
    INSTRUCTION_MARK,
    find_instructions,
    format_turn_for_search,
    group_into_turns,
    is_conditional,
)
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import assistant, user


@pytest.mark.parametrize(
    "said",
    [
        "always use tabs",
        "Please never mock the database.",
        "- Never commit to main",
        "We never mock the database here.",
        "You must always run the tests first.",
        "From now on, answer in French.",
        "Don't ever push without asking.",
        "I prefer small functions over long ones.",
        "I'd rather have one file.",
        "My preference is SQLite.",
        "Always include version numbers when I ask about libraries.",
        "Utilise toujours des tabulations.",
        "toujours répondre en français",
        "N'utilise jamais de mocks.",
        "Ne fais jamais de force push.",
        "Je préfère les petites fonctions.",
        "Désormais, les noms sont en anglais.",
    ],
)
def test_what_is_to_hold_from_now_on_is_recognised(said: str) -> None:
    assert find_instructions(f"Here is the log.\n{said}") == [said]


@pytest.mark.parametrize(
    "said",
    [
        "It always fails on Mondays.",
        "Why is this never called?",
        "Never mind.",
        "Always happy to help!",
        "I have always been here.",
        "We never had a problem.",
        "Do I prefer tea?",
        "I'd prefer that.",
        "ok, I would rather have the second one",
        "Il est toujours là.",
        "Je ne l'ai jamais vu.",
        "Where is the cart?",
        "```\n# comment\nnever call this twice\n```",
    ],
)
def test_other_sentences_with_such_words_are_not(said: str) -> None:
    assert find_instructions(said) == []


def test_only_the_sentence_itself_is_kept() -> None:
    text = "The build is red again.\nAlways use tabs. What is wrong?"

    assert find_instructions(text) == ["Always use tabs."]


def test_an_instruction_may_hold_in_some_cases_only() -> None:
    assert is_conditional("Always give versions when I ask about libraries.")
    assert not is_conditional("Always use tabs.")


def test_a_turn_is_marked_only_by_what_its_user_said() -> None:
    [ours] = group_into_turns([user("Always use tabs."), assistant("ok")])
    [theirs] = group_into_turns([user("Hello"), assistant("Always use tabs.")])

    assert format_turn_for_search(ours).splitlines()[-1] == INSTRUCTION_MARK
    assert INSTRUCTION_MARK not in format_turn_for_search(theirs)
    assert WORDS.query(INSTRUCTION_MARK) == [WORDS.prose(INSTRUCTION_MARK)]
