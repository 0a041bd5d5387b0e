"""Windows: how much of a request fits into a model, counted in characters.

A window holds the instructions, the tools, what was found, the question, the results of tools and
the answer. What a model's tokens are is not known here, so characters are counted cautiously.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.records import dataclass

CHARS_A_TOKEN = 3
"""Fewer than in English prose: code, and most other languages, have more tokens."""


@dataclass(frozen=True, slots=True)
class WindowShares:
    """The most characters of the parts of a request; None where the window is not known."""

    context: int | None = None
    tools: int | None = None  # their descriptions
    results: int | None = None  # of tools, before the oldest are shortened

    @classmethod
    def of(cls, tokens: int | None) -> WindowShares:
        """Return the shares of a window; the rest is for the question and the answer."""
        if tokens is None:
            return cls()
        chars = tokens * CHARS_A_TOKEN
        return cls(context=chars // 3, tools=chars // 4, results=chars // 3)


def estimate_tokens(texts: Sequence[str]) -> int:
    """Return how many tokens texts have at most, roughly."""
    return sum(map(len, texts)) // CHARS_A_TOKEN
