"""Neighbours: turns found by the words that they, and the turns beside them, hold.

What a turn is about often stands in the one before: the answer to "where do you keep the
tokens?" need not speak of tokens. So each word counts where it is held nearest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragforge.domain.hits import Holder, WordsFound

REACH = 4
"""How many turns away a word may stand."""
LENT = 0.6
"""How much of a word's worth is left with each turn of distance."""
OFTEN = 1.2
"""How much it adds that a word stands there more than once (k1 of BM25)."""
LONG = 0.4
"""How much longer turns are worth less (b of BM25)."""


@dataclass(frozen=True, slots=True)
class ByWords:
    """A turn found by words."""

    id: str
    score: float  # 0..1: how much of the query's worth is there
    itself: bool  # whether it holds a word of its own


def ranked(found: WordsFound, without: Collection[str] = ()) -> list[ByWords]:
    """Return the turns by their words and their neighbours', best first.

    Those that are left out lend nothing either.
    """
    holders = [holder for holder in found.holders if holder.id not in without]
    worth = worths(found)
    sums = {turn: sum(words.values()) for turn, words in _gathered(holders, worth).items()}
    # Short turns that hold a word often come to more than the whole: they set the scale then.
    whole = max(sum(worth.values()), *sums.values()) if sums else 1.0
    hits = [
        ByWords(holder.id, sums[holder.id] / whole, bool(holder.holds))
        for holder in holders
        if holder.id in sums
    ]
    return sorted(hits, key=lambda hit: -hit.score)


def worths(found: WordsFound) -> dict[str, float]:
    """Return what each word is worth: the rarer, the more; nothing where nobody holds it."""
    return {
        word: math.log(1 + (max(found.turns - count, 0) + 0.5) / (count + 0.5))
        for word, count in (found.counts or {}).items()
        if count
    }


def coverage(words: Iterable[str], worth: Mapping[str, float]) -> float:
    """Return how much of the worth these words hold, 0..1."""
    whole = sum(worth.values())
    return sum(worth[word] for word in worth.keys() & set(words)) / whole if whole else 0.0


def _gathered(holders: Sequence[Holder], worth: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return turn → word → what the word counts there, its own or lent by a neighbour.

    A word that stands once in a turn of the usual length counts its worth.
    """
    usual = sum(holder.length for holder in holders) / max(len(holders), 1) or 1.0
    gathered: dict[str, dict[str, float]] = {}
    places: dict[str, dict[int, dict[str, float]]] = defaultdict(dict)
    for holder in holders:
        gathered[holder.id] = places[holder.conversation_id][holder.turn_index] = {}
    for holder in holders:
        if not holder.holds:
            continue
        turns = places[holder.conversation_id]
        beside = [(turns.get(holder.turn_index + step), lent) for step, lent in _STEPS]
        reached = [(turn, lent) for turn, lent in beside if turn is not None]
        long = OFTEN * (1 - LONG + LONG * holder.length / usual)
        for word, times in holder.holds.items():
            counts = worth[word] * times * (OFTEN + 1) / (times + long)
            for turn, lent in reached:
                if counts * lent > turn.get(word, 0.0):
                    turn[word] = counts * lent
    return {turn: words for turn, words in gathered.items() if words}


_STEPS = [(step, LENT ** abs(step)) for step in range(-REACH, REACH + 1)]
