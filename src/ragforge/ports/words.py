"""Words: how text becomes the words that are indexed and searched for."""

from __future__ import annotations

from typing import Protocol


class Tokeniser(Protocol):
    """Turns text into words. The same for every engine, so that all find the same."""

    version: str
    """Changes whenever the words do: stores then index their texts anew."""

    def __hash__(self) -> int: ...

    def document(self, text: str) -> str:
        """Return the words to index, separated by single spaces.

        Words hold letters and digits only, in any script.
        """

    def prose(self, text: str) -> str:
        """Return the words to index of what people write to each other, in any language.

        All words of `document` are among them.
        """

    def query(self, text: str) -> list[str]:
        """Return the distinct words to look for, the most telling first."""
