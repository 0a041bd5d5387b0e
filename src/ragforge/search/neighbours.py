"""Neighbours: rank turns by their own words and by those of the turns beside them.

The subject of a turn is often named in the one before: the answer to "where do you keep the
tokens?" need not mention tokens. So each word counts from the nearest turn that contains it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ragforge.domain import bm25
from ragforge.domain.hits import TurnMatch, WordMatches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REACH = 4
"""How many turns away a word may occur."""
LENT = 0.75
MIN_LENT = 0.4
"""How much of a word's weight is left with each turn of distance, for a turn without words and for
an endless one: a long turn names its subject itself."""
HALF_WORDS = 100
"""With so many words a turn borrows half as much above the least."""
LONG_WORDS = 1_000
"""A turn of this length lends and borrows half as much as a short one."""


class RankedTurn(NamedTuple):
    """A turn found by words."""

    id: str
    score: float  # 0..1: the share of the query's weight
    has_words: bool  # whether it contains a word itself; else only its neighbours do


def rank_turns(found: WordMatches, without: Collection[str] = ()) -> list[RankedTurn]:
    """Return the turns by their words and their neighbours', best first.

    Turns `without` are ignored as neighbours too.
    """
    matches = [match for match in found.matches if match.id not in without]
    weights = weigh_words(found)
    if not matches or not weights:
        return []
    sums = _sum_weights(matches, weights)
    # A short turn that repeats a word may exceed the query's weight: then it sets the scale.
    highest = max(sum(weights.values()), float(sums.max()))
    scores = (sums / highest).tolist()
    hits = [
        RankedTurn(match.id, score, bool(match.words))
        for match, score in zip(matches, scores, strict=True)
        if score
    ]
    return sorted(hits, key=attrgetter("score"), reverse=True)


def rank_alone(found: WordMatches) -> dict[str, float]:
    """Return the turns with their scores by their own words, without arrays."""
    weights = weigh_words(found)
    usual = sum(match.length for match in found.matches) / max(len(found.matches), 1) or 1.0
    return {
        match.id: sum(
            weights.get(word, 0.0) * bm25.weigh_times(times, bm25.saturate(match.length, usual))
            for word, times in match.words.items()
        )
        for match in found.matches
    }


def merge_groups(found: WordMatches, groups: Iterable[Collection[str]]) -> WordMatches:
    """Return the matches as if the words of a group, which mean the same, were one word.

    Otherwise a turn with one of them would seem to lack the others.
    """
    name_of = name_groups(groups)

    def merge_counts(numbers: Mapping[str, int]) -> dict[str, int]:
        most: dict[str, int] = {}
        for word, number in numbers.items():
            name = name_of.get(word, word)
            most[name] = max(number, most.get(name, 0))
        return most

    matches = tuple(match._replace(words=merge_counts(match.words)) for match in found.matches)
    return replace(found, matches=matches, counts=merge_counts(found.counts or {}))


def name_groups(groups: Iterable[Collection[str]]) -> dict[str, str]:
    """Return for each word the one that represents its group."""
    return {word: min(group) for group in groups for word in group}


def weigh_words(found: WordMatches) -> dict[str, float]:
    """Return the weight of each word that occurs: the rarer, the higher."""
    return {
        word: bm25.weigh_word(found.turn_count, count)
        for word, count in (found.counts or {}).items()
        if count
    }


def measure_borrowed(length: Any) -> Any:
    """Return which share of a neighbour's word counts for a turn of so many words."""
    share = MIN_LENT + (LENT - MIN_LENT) * HALF_WORDS / (HALF_WORDS + length)
    return share * measure_lent(length)


def measure_lent(length: Any) -> Any:
    """Return which share of its words a turn of this length lends: a long one is no context."""
    return 1 / (1 + (length / LONG_WORDS) ** 2)


def measure_coverage(words: Iterable[str], weights: Mapping[str, float]) -> float:
    """Return the share of the total weight that these words have, 0..1."""
    total = sum(weights.values())
    return sum(weights[word] for word in weights.keys() & set(words)) / total if total else 0.0


def _sum_weights(matches: Sequence[TurnMatch], weights: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the total weight of the words in each turn and its neighbours.

    A word that occurs once in a turn of the usual length counts its weight. If both a turn and a
    neighbour contain it, the higher value counts.
    """
    import numpy as np

    places = _assign_positions(matches)
    row_of = {word: row for row, word in enumerate(weights)}
    held = [
        (row_of[word], place, times)
        for place, match in zip(places.tolist(), matches, strict=True)
        for word, times in match.words.items()
    ]
    times = np.zeros((len(weights), places.max() + REACH + 1))
    rows, columns, counts = zip(*held, strict=True) if held else ((), (), ())
    times[list(rows), list(columns)] = counts
    lengths = np.zeros(times.shape[1])
    lengths[places] = [match.length for match in matches]
    saturation = bm25.saturate(lengths, lengths[places].mean() or 1.0)
    own = np.array([*weights.values()])[:, None] * bm25.weigh_times(times, saturation)
    best = own.copy()
    borrowed, lent = measure_borrowed(lengths), own * measure_lent(lengths)
    for step in range(1, REACH + 1):
        share = borrowed**step
        np.maximum(best[:, step:], lent[:, :-step] * share[step:], out=best[:, step:])
        np.maximum(best[:, :-step], lent[:, step:] * share[:-step], out=best[:, :-step])
    sums: NDArray[np.float64] = best.sum(axis=0)[places]
    return sums


def _assign_positions(matches: Sequence[TurnMatch]) -> NDArray[np.int64]:
    """Return a position for each turn on one line.

    Neighbours are as far apart as in their conversation; other turns are out of reach.
    """
    import numpy as np

    numbers: dict[str, int] = {}
    conversations = np.array([numbers.setdefault(one[1], len(numbers)) for one in matches])
    turns = np.array([one[2] for one in matches])
    order = np.lexsort((turns, conversations))
    gaps = np.minimum(np.diff(turns[order]), REACH + 1)
    gaps[np.diff(conversations[order]) != 0] = REACH + 1
    places = np.empty(len(matches), np.int64)
    places[order] = np.concatenate(([REACH + 1], gaps)).cumsum()
    return places
