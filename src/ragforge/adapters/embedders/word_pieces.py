"""Word pieces: an identifier into words, a word into the longest parts that a vocabulary knows.

Training splits texts with this too, so it imports the standard library alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from ragforge.patterns import compile_on_use

INSIDE = "##"
"""Begins every piece that is not the first of its word."""
_WORD = compile_on_use(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+")
_WORD_CHARS = 32
FEW = 300
"""So many pieces are looked up before all are numbered."""


def split_identifier(text: str) -> list[str]:
    """Return the words of an identifier, in lower case."""
    return [word[:_WORD_CHARS].lower() for word in _WORD.findall(text)]


class WordPieces:
    """A vocabulary, in which the number of a piece is its place."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._lines = "\n".join(("", *pieces, "")).encode()
        self._looked_up = 0

    @classmethod
    def read(cls, path: Path) -> WordPieces:
        """Read a vocabulary that has a piece a line."""
        found = cls(())
        found._lines = b"\n" + path.read_bytes().rstrip(b"\n") + b"\n"
        return found

    @cached_property
    def _numbers(self) -> dict[str, int]:
        pieces = self._lines.decode()[1:-1].split("\n")
        return dict(zip(pieces, range(len(pieces)), strict=True))

    def _find(self, piece: str) -> int | None:
        """Return the number of a piece. The first few are looked for where they stand.

        A process that embeds one question would take longer to number all.
        """
        if self._looked_up >= FEW:
            return self._numbers.get(piece)
        self._looked_up += 1
        place = self._lines.find(b"\n%b\n" % piece.encode(errors="replace"))
        return self._lines.count(b"\n", 0, place) if place >= 0 else None

    def split(self, word: str) -> bytes:
        """Return the numbers of a word's pieces, two bytes a piece.

        From the left, each the longest that is known. What no piece covers is left out.
        """
        pieces = array("H")
        start, before = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                known = self._find(before + word[start:end])
                if known is not None:
                    pieces.append(known)
                    break
            else:
                end = start + 1
            start, before = end, INSIDE
        return pieces.tobytes()
