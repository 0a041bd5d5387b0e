"""Breadth: questions for several facts, and for an order."""

from __future__ import annotations

import pytest

from ragforge.search.question.message_kinds import asks_for_order, asks_for_several
from ragforge.search.turn_rank import KEPT, spread_scores


@pytest.mark.parametrize(
    "question",
    [
        "In what order did we change these modules?",
        "Walk me through the order in which I brought up the tests",
        "Give me a timeline of the outage",
        "Which bug came first?",
        "Dans quel ordre avons-nous migré les services ?",
    ],
)
def test_a_question_for_an_order_is_one_for_several_facts(question: str) -> None:
    assert asks_for_order(question)
    assert asks_for_several(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which databases have we tried?",
        "List the bugs of this week",
        "What are the open questions?",
        "How many times did the build break?",
        "Quelles erreurs avons-nous vues ?",
    ],
)
def test_some_questions_want_several_facts(question: str) -> None:
    assert asks_for_several(question)
    assert not asks_for_order(question)


@pytest.mark.parametrize("question", ["Where is the cart?", "Why does the build fail?", "Go on"])
def test_others_want_one(question: str) -> None:
    assert not asks_for_several(question)


def test_each_further_hit_of_a_conversation_counts_less() -> None:
    assert spread_scores(["a", "a", "b"], [1.0, 0.9, 0.8]) == [1.0, 0.9 * KEPT, 0.8]
