"""An answer without a model says what of the question was found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from ragforge.agent.answer import answer_from_passages
from ragforge.context.build import EnrichedContext
from ragforge.domain.receipts import MEMORY_OFF, Receipt, SearchReport
from ragforge.domain.turns import Passage

QUESTION = "Where is the lease of a worker renewed?"


def place(text: str, file: str | None = "a.py", score: float = 0.9) -> Passage:
    return Passage(text, file or "turn 1 of session ab", score, file)


def answer(*found: Passage, unknown: tuple[str, ...] = (), memory: bool = True) -> list[str]:
    """Return the lines of an answer."""
    searches = () if memory else (SearchReport("memory", "skipped", note=MEMORY_OFF),)
    receipt = Receipt(9, 9, searches=searches, unknown=unknown)
    context = cast(EnrichedContext, SimpleNamespace(receipt=receipt))
    return answer_from_passages(context, QUESTION, found).split("\n")


def test_it_names_the_words_that_the_places_have_and_those_they_do_not() -> None:
    first, *_ = answer(place("def renew(lease): ..."), place("renewing", "b.py"))

    assert first == '2 places in the code have "lease" and "renewed", but not "worker".'


def test_it_counts_code_documents_and_past_exchanges() -> None:
    first, *_ = answer(
        place("lease"), place("lease", "a.md"), place("lease of a worker, renewed", None)
    )

    assert first.startswith("One place in the code, one in a document and one past exchange have")


def test_it_names_the_words_that_are_nowhere() -> None:
    first, *_ = answer(place("worker renewed"), unknown=("lease",))

    assert first == (
        'One place in the code has "worker" and "renewed". '
        'Nothing in this project\'s code or documents says "lease".'
    )


def test_places_that_are_not_likely_and_lack_words_are_only_the_nearest() -> None:
    [unlikely, *_] = answer(place("lease", score=0.4))
    [whole, *_] = answer(place("the worker renewed its lease", score=0.4))

    assert unlikely.startswith("Nothing fits well; this is the nearest: one place in the code has")
    assert whole.startswith("One place in the code has")


def test_nothing_found_is_one_sentence_and_the_next_step() -> None:
    [told] = answer(memory=False)

    assert told.startswith("Nothing in this project fits that well enough. `ragforge search`")
