"""Contradictions: a statement that replaces an older one is told from one that does not."""

from __future__ import annotations

import pytest

from benchmarks.contradictions import measure
from ragforge.search.contradiction import MAX_CHARS, compare, is_same_word, read_statements


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("the port is 8080", "the port is 9090"),
        ("we use npm", "we use pnpm, not npm"),
        ("always run tests with -x", "never run tests with -x"),
        ("We use poetry for dependencies.", "We switched from poetry to uv for dependencies."),
        ("On utilise MySQL.", "On n'utilise plus MySQL mais PostgreSQL."),
        ("Wir verwenden npm.", "Wir verwenden pnpm statt npm."),
        ("Ejecuta siempre las pruebas con -x.", "Nunca ejecutes las pruebas con -x."),
    ],
)
def test_another_value_of_the_same_subject_contradicts(older: str, newer: str) -> None:
    assert compare(older, newer) == "clear"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The port is 8080.", "The backend port is 9090."),  # perhaps another port
        ("The port is 8080. The host is db1.", "The port is 9090."),  # the host still holds
        ("The port is 8080.", "If unsure, the port is 9090."),
        ("The mascot is a fox.", "The mascot is an owl."),
        ("The job ran 3 times on port 8080.", "The job ran 4 times on port 8081."),
    ],
)
def test_what_may_be_a_contradiction_is_doubtful(older: str, newer: str) -> None:
    assert compare(older, newer) == "doubtful"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The backend port is 8080.", "The frontend port is 9090."),
        ("Disable the cache.", "Never enable the cache."),
        ("We don't use yarn.", "We don't use bun."),
        ("The timeout is 30 s.", "The timeout is 30 seconds."),
        ("The port is 8080.", "x" * (MAX_CHARS + 1)),
        ("", "?!"),
    ],
)
def test_other_statements_do_not_contradict(older: str, newer: str) -> None:
    assert compare(older, newer) == "none"


def test_a_word_that_is_common_in_a_project_counts_little() -> None:
    older, newer = "The port is 8080.", "The Zebra port is 9090."

    assert compare(older, newer) == "doubtful"
    assert compare(older, newer, lambda word: 0.1 if word == "zebra" else 1.0) == "clear"


def test_words_are_the_same_if_they_differ_at_their_end_only() -> None:
    assert is_same_word("session", "sessions")
    assert is_same_word("utilise", "utiliser")
    assert not is_same_word("staging", "status")
    assert read_statements("") == ()


def test_links_are_right_and_most_contradictions_are_found_in_the_half_not_built_with() -> None:
    figures = measure("held-out")

    assert figures["pairs"] >= 60
    assert figures["linked_precision"] >= 0.95
    assert figures["linked_recall"] >= 0.8
    assert figures["listed_recall"] >= 0.9
