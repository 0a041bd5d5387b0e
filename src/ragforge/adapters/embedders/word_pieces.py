"""Word pieces: an identifier into words, a word into the longest parts that a vocabulary knows.

Training splits texts with this too, so it imports the standard library alone.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from pathlib import Path

INSIDE = "##"
"""Begins every piece that is not the first of its word."""
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+")
_WORD_CHARS = 32


def split_identifier(text: str) -> list[str]:
    """Return the words of an identifier, in lower case."""
    return [word[:_WORD_CHARS].lower() for word in _WORD.findall(text)]


class WordPieces:
    """A vocabulary, in which the number of a piece is its place."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._numbers = dict(zip(pieces, range(len(pieces)), strict=True))

    @classmethod
    def read(cls, path: Path) -> WordPieces:
        """Read a vocabulary that has a piece a line."""
        return cls(path.read_bytes().decode().rstrip("\n").split("\n"))

    def split(self, word: str) -> bytes:
        """Return the numbers of a word's pieces, two bytes a piece.

        From the left, each the longest that is known. What no piece covers is left out.
        """
        pieces = array("H")
        start, before = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                known = self._numbers.get(before + word[start:end])
                if known is not None:
                    pieces.append(known)
                    break
            else:
                end = start + 1
            start, before = end, INSIDE
        return pieces.tobytes()
