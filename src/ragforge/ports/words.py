"""Words: turn text into the words that are indexed and searched for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

WordCounts: TypeAlias = Mapping[str, Mapping[str, int]]
"""How often each word occurs in each file that has any."""
COUNTED_WORDS = 20
"""How many words of a question are counted, the most specific first."""
CountWords: TypeAlias = Callable[[Sequence[str], Sequence[str]], Awaitable[WordCounts]]
"""Counts words in files of a project: it takes paths and stems of words."""


class Tokeniser(Protocol):
    """Turns text into words, the same way for every engine."""

    version: str
    """Changes whenever the words do: stores then index their texts again."""

    def __hash__(self) -> int: ...

    def document(self, text: str) -> str:
        """Return the words to index, separated by single spaces.

        Words hold letters and digits only, in any script.
        """

    def prose(self, text: str) -> str:
        """Return the words to index of conversations, in any language.

        All words of `document` are among them.
        """

    def query(self, text: str) -> list[str]:
        """Return the distinct words to search for, the most specific first."""
