"""Word pieces: a word into the longest parts that a vocabulary knows."""

from __future__ import annotations

from array import array
from pathlib import Path

_INSIDE = "##"
"""Begins every piece that is not the first of its word."""


class WordPieces:
    """A vocabulary in a file: a piece a line, and its number is that of the line."""

    def __init__(self, path: Path) -> None:
        lines = path.read_bytes().decode().rstrip("\n").split("\n")
        self._numbers = dict(zip(lines, range(len(lines)), strict=True))

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
            start, before = end, _INSIDE
        return pieces.tobytes()
