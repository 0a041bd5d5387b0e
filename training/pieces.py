"""Pieces: texts into the numbers of a vocabulary's pieces, as the bundled embedder splits them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_RUN = re.compile(r"\w+")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+")
_WORD_CHARS = 32
INSIDE = "##"


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, with identifiers split."""
    return [word[:_WORD_CHARS].lower() for run in _RUN.findall(text) for word in _WORD.findall(run)]


class Pieces:
    """A vocabulary: a word is split from its left into the longest pieces that are known."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self.numbers = {piece: number for number, piece in enumerate(pieces)}
        self.split = lru_cache(1 << 18)(self._split)

    @classmethod
    def read(cls, path: Path) -> Pieces:
        return cls(path.read_text("utf-8").rstrip("\n").split("\n"))

    def _split(self, word: str) -> tuple[int, ...]:
        found, start, before = [], 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self.numbers.get(before + word[start:end])
                if number is not None:
                    found.append(number)
                    break
            else:
                end = start + 1
            start, before = end, INSIDE
        return tuple(found)

    def count(self, text: str) -> Counter[int]:
        """Return how often each piece is in a text."""
        return Counter(piece for word in split_words(text) for piece in self.split(word))

    def to_matrix(self, texts: Sequence[str]) -> csr_matrix:
        """Return a row a text with the counts of its pieces: a text's vector is row × table."""
        import numpy as np
        from scipy.sparse import csr_matrix

        starts, columns, counts = [0], list[int](), list[int]()
        for text in texts:
            found = self.count(text)
            columns += found.keys()
            counts += found.values()
            starts.append(len(columns))
        shape = len(texts), len(self.numbers)
        return csr_matrix((np.array(counts, "f4"), columns, starts), shape=shape)
