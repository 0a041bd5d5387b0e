"""Texts: what the protocol can carry of a text."""

from __future__ import annotations

from ragforge.domain.text import keep_beginning

MOST_CHARS = 20_000
"""Of the result of a call, as much as somebody looks at in an editor."""


def clean(text: str) -> str:
    """Return a text that can be encoded: half a character, as files may hold, becomes a sign."""
    return text.encode("utf-8", "replace").decode()


def shorten(text: str) -> str:
    """Return the beginning of a text that may be very long."""
    return keep_beginning(clean(text), MOST_CHARS)
