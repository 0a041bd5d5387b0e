"""Chores: messages that need no memory and no code."""

from __future__ import annotations

import pytest

from ragforge.search.question.message_kinds import is_chore, needs_nothing


@pytest.mark.parametrize(
    "message",
    [
        "commit this",
        "can you commit and push?",
        "Open a pull request against develop",
        "squash the last two commits and force push",
        "fusionne avec main",
        "mach den letzten Commit rückgängig",
        "haz un commit",
        "ship it",
    ],
)
def test_acts_with_the_repository_are_chores(message: str) -> None:
    assert is_chore(message)
    assert needs_nothing(message, in_session=True)


@pytest.mark.parametrize(
    "message",
    [
        "why does the rebase fail on main?",
        "how do we push the metadata branch?",
        "warum schlägt der Merge fehl?",
        "update the tests",
        "commit the session log before the checkpoint is condensed",
        "",
        "!!!",
    ],
)
def test_questions_and_work_on_code_are_not(message: str) -> None:
    assert not is_chore(message)


@pytest.mark.parametrize(
    ("message", "alone", "in_session"),
    [
        ("yes, go ahead", True, False),
        ("let's continue with the first option", True, False),
        ("oui, vas-y", True, False),
        ("thanks!", True, True),
        ("hello", True, True),
        ("where is the tax added?", False, False),
    ],
)
def test_yes_needs_what_the_session_is_about(message: str, alone: bool, in_session: bool) -> None:
    assert needs_nothing(message) is alone
    assert needs_nothing(message, in_session=True) is in_session
