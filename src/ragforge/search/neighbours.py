"""Neighbours: turns found by the words that they, and the turns beside them, hold.

What a turn is about often stands in the one before: the answer to "where do you keep the
tokens?" need not speak of tokens. So each word counts where it is held nearest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ragforge.domain import bm25
from ragforge.domain.hits import TurnMatch, WordMatches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REACH = 4
"""How many turns away a word may stand."""
LENT = 0.6
"""How much of a word's worth is left with each turn of distance."""


class RankedTurn(NamedTuple):
    """A turn found by words."""

    id: str
    score: float  # 0..1: how much of the query's worth is there
    has_words: bool  # whether it contains a word itself; else only its neighbours do


def rank_turns(found: WordMatches, without: Collection[str] = ()) -> list[RankedTurn]:
    """Return the turns by their words and their neighbours', best first.

    Those that are left out lend nothing either.
    """
    matches = [match for match in found.matches if match.id not in without]
    worth = weigh_words(found)
    if not matches or not worth:
        return []
    sums = _sum_weights(matches, worth)
    # Short turns that hold a word often come to more than the whole: they set the scale then.
    whole = max(sum(worth.values()), float(sums.max()))
    scores = (sums / whole).tolist()
    hits = [
        RankedTurn(match.id, score, bool(match.words))
        for match, score in zip(matches, scores, strict=True)
        if score
    ]
    return sorted(hits, key=lambda hit: -hit.score)


def merge_groups(found: WordMatches, groups: Iterable[Collection[str]]) -> WordMatches:
    """Return what was found as if the words of a group, which mean the same, were one word.

    Else a turn that has one of them would seem to lack the others.
    """
    name_of = name_groups(groups)

    def named(numbers: Mapping[str, int]) -> dict[str, int]:
        most: dict[str, int] = {}
        for word, number in numbers.items():
            name = name_of.get(word, word)
            most[name] = max(number, most.get(name, 0))
        return most

    matches = tuple(match._replace(words=named(match.words)) for match in found.matches)
    return replace(found, matches=matches, counts=named(found.counts or {}))


def name_groups(groups: Iterable[Collection[str]]) -> dict[str, str]:
    """Return for each word of a group the one that stands for all of them."""
    return {word: min(group) for group in groups for word in group}


def weigh_words(found: WordMatches) -> dict[str, float]:
    """Return what each word is worth: the rarer, the more; nothing where nobody holds it."""
    return {
        word: bm25.weigh_word(found.turn_count, count)
        for word, count in (found.counts or {}).items()
        if count
    }


def measure_coverage(words: Iterable[str], worth: Mapping[str, float]) -> float:
    """Return how much of the worth these words hold, 0..1."""
    whole = sum(worth.values())
    return sum(worth[word] for word in worth.keys() & set(words)) / whole if whole else 0.0


def _sum_weights(matches: Sequence[TurnMatch], worth: Mapping[str, float]) -> NDArray[np.float64]:
    """Return what the words count in each turn, its own or lent by a neighbour.

    A word that stands once in a turn of the usual length counts its worth, and where both a
    turn and a neighbour hold it, whichever counts more.
    """
    import numpy as np

    places = _assign_positions(matches)
    row_of = {word: row for row, word in enumerate(worth)}
    held = [
        (row_of[word], place, times)
        for place, match in zip(places.tolist(), matches, strict=True)
        for word, times in match.words.items()
    ]
    times = np.zeros((len(worth), places.max() + REACH + 1))
    rows, columns, counts = zip(*held, strict=True) if held else ((), (), ())
    times[list(rows), list(columns)] = counts
    lengths = np.zeros(times.shape[1])
    lengths[places] = [match.length for match in matches]
    saturation = bm25.saturate(lengths, lengths[places].mean() or 1.0)
    own = np.array([*worth.values()])[:, None] * bm25.weigh_times(times, saturation)
    best = own.copy()
    for step in range(1, REACH + 1):
        lent = own * LENT**step
        np.maximum(best[:, step:], lent[:, :-step], out=best[:, step:])
        np.maximum(best[:, :-step], lent[:, step:], out=best[:, :-step])
    sums: NDArray[np.float64] = best.sum(axis=0)[places]
    return sums


def _assign_positions(matches: Sequence[TurnMatch]) -> NDArray[np.int64]:
    """Return where each turn stands when all are laid out in one line.

    Neighbours are as far apart as in their conversation; those that are none, out of reach.
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
