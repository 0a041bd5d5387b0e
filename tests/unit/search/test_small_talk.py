"""Small talk: messages with nothing to look for, in five languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.search.question.message_kinds import is_small_talk


@pytest.mark.parametrize(
    "message",
    [
        "ok",
        "Thanks a lot, that was very helpful!",
        "Yes, please go on",
        "Great, let's continue",
        "Merci beaucoup, bonne journée !",
        "Oui, vas-y",
        "d'accord",
        "Vielen Dank, schönes Wochenende!",
        "ja, mach weiter",
        "¡Muchas gracias, hasta mañana!",
        "sí, adelante",
        "Grazie mille, a domani",
        ":-)",
        "",
    ],
)
def test_courtesies_and_consent_are_small_talk(message: str) -> None:
    assert is_small_talk(message)


@pytest.mark.parametrize(
    "message",
    [
        "Job",  # one word may be a name
        "stop",
        "ok, now fix the failing test",
        "thanks, and where is the parser?",
        "Merci, et où sont les tests ?",
        "go test ./...",
        "continue the migration",
        "How do I make an apple pie?",  # not about code, yet something to look for
        "はい",
    ],
)
def test_whatever_can_be_looked_for_is_not(message: str) -> None:
    assert not is_small_talk(message)


@given(st.text())
def test_any_text_is_or_is_not(message: str) -> None:
    assert is_small_talk(message) in (True, False)
