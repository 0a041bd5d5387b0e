"""Pieces: texts into the numbers of a vocabulary's pieces, as the bundled embedder splits them."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.adapters.embedders.bundled import (
    WordPieces,
    format_pieces,
    parse_pieces,
    split_identifier,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_RUN = re.compile(r"\w+")


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, with identifiers split."""
    return [word for run in _RUN.findall(text) for word in split_identifier(run)]


class Pieces:
    """A vocabulary that remembers how it has split words."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.size = len(pieces)
        self._pieces = WordPieces(format_pieces(pieces))
        self.split = lru_cache(1 << 18)(self._split)

    @classmethod
    def read(cls, path: Path) -> Pieces:
        numbers = parse_pieces(path.read_bytes())
        return cls(sorted(numbers, key=numbers.__getitem__))

    def _split(self, word: str) -> tuple[int, ...]:
        return tuple(array("H", self._pieces.split(word)))

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
        shape = len(texts), self.size
        return csr_matrix((np.array(counts, "f4"), columns, starts), shape=shape)
