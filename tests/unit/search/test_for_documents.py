"""Questions about a project itself, which its documents answer."""

from __future__ import annotations

import pytest

from ragforge.search.question.message_kinds import is_for_documents, is_for_records


@pytest.mark.parametrize(
    "question",
    [
        "How do I install it?",
        "Wie kann ich das installieren?",
        "Under which licence is this?",
        "Which PHP version does it need?",
        "What changed in version 2.32.0?",
        "How do I build it on Windows?",
        "How do I add it to my Maven project?",
        "How do I report a security hole?",
        "How can I contribute?",
    ],
)
def test_documents_answer_how_a_project_is_used_and_shared(question: str) -> None:
    assert is_for_documents(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where are installed apps loaded?",
        "How does the version module compare two numbers?",
        "What changed in the state after a dispatch?",
        "How do I build a query with a subquery?",
        "Where is a security header added?",
    ],
)
def test_code_answers_how_it_works(question: str) -> None:
    assert not is_for_documents(question)


def test_changelogs_and_licences_are_meant_if_a_question_is_for_them() -> None:
    assert is_for_records("What is new in release 3.0?")
    assert is_for_records("Is this MIT licensed?")
    assert not is_for_records("How do I install it?")
