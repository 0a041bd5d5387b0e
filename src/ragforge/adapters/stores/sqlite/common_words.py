"""Common words: to count who holds them takes a while, and tells nothing new each time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

import apsw

from ragforge.adapters.stores.sqlite.sql import as_json

SHARE, ROWS = 10, 1_000
"""A word that one text in ten holds, and so many, tells little beside rarer ones."""
RARER = 2
"""Beside so many rarer words a common one tells nothing."""
MANY_WORDS, MANY_ROWS = 12, 4_000
"""Of more words than these, the rarest that so many rows hold find nearly as much as all."""

HALF, FEW_ROWS = 2, 50
"""A word that half of the texts hold has no weight at all in the ranking of SQLite."""


def is_common(count: int, texts: int, share: int | None = None, rows: int | None = None) -> bool:
    """Say whether a word that so many of the texts hold is common."""
    return count > max(rows or ROWS, texts // (share or SHARE))


def pick_telling(counts: Mapping[str, int], texts: int) -> list[str]:
    """Return the words worth a search, the rarest first; common ones where there are few others."""
    words = sorted(counts, key=counts.__getitem__)
    return [
        word
        for place, word in enumerate(words)
        if place < RARER or not is_common(counts[word], texts)
    ]


def pick_rarest(counts: Mapping[str, int], rows: int = MANY_ROWS) -> list[str]:
    """Return the rarest words, as many as so many rows hold altogether; two in any case."""
    words = sorted(counts, key=counts.__getitem__)
    held = list(accumulate(counts[word] for word in words))
    return words[: max(bisect_right(held, rows), RARER)]


class CommonWords:
    """How many texts hold each word; common ones as it was when they were counted."""

    def __init__(self, vocabulary: str, share: int | None = None, rows: int | None = None) -> None:
        """`vocabulary` is the table that counts the words of an index.

        Common is a word that one text in `share` holds, and more than `rows`.
        """
        self._vocabulary = vocabulary
        self._share = share
        self._rows = rows
        self._common: dict[str, int] = {}
        self._texts = 0

    def counts(
        self, connection: apsw.Connection, words: Sequence[str], texts: int
    ) -> dict[str, int]:
        """Return how many of the texts hold each word, as far as any do."""
        if texts < self._texts:  # some are gone: their words may be rare now
            self._common = {}
        self._texts = texts
        known = {word: self._common[word] for word in words if self._is_known(word)}
        new: dict[str, int] = dict(
            connection.execute(
                f"""SELECT w.value, v.doc FROM json_each(?) w
                    CROSS JOIN {self._vocabulary} v ON v.term = w.value""",
                (as_json(word for word in words if word not in known),),
            )
        )
        common = {word: count for word, count in new.items() if self.is_common(count)}
        self._common = self._common | common
        return known | new

    def is_common(self, count: int) -> bool:
        """Say whether a word that so many of the texts hold is common among them."""
        return is_common(count, self._texts, self._share, self._rows)

    def _is_known(self, word: str) -> bool:
        return self.is_common(self._common.get(word, 0))
