"""Common words: to count who holds them takes a while, and tells nothing new each time."""

from __future__ import annotations

from collections.abc import Sequence

SHARE, ROWS = 10, 1_000
"""A word that one turn in ten holds, and so many, tells little beside rarer ones."""


def is_common(count: int, turns: int) -> bool:
    """Say whether a word that so many of the turns hold is common."""
    return count > max(ROWS, turns // SHARE)


class CommonWords:
    """How many turns hold each common word, as it was when they were counted."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._turns = 0

    def known(self, words: Sequence[str], turns: int) -> dict[str, int]:
        """Return the counts of those words that are common among so many turns."""
        if turns < self._turns:  # some are gone: their words may be rare now
            self._counts = {}
        self._turns = turns
        counts = self._counts
        return {word: counts[word] for word in words if is_common(counts.get(word, 0), turns)}

    def learn(self, counts: dict[str, int]) -> None:
        """Keep the counts of the words that are common."""
        common = {word: n for word, n in counts.items() if is_common(n, self._turns)}
        self._counts = self._counts | common
