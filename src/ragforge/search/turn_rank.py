"""Turn rank: rank turns by what was said and done in them, and by the session that asks.

A turn is found by all of its words, by its best piece, by the files and lines that it edited, and
by what the session that asks has said and touched last. The weights were chosen on real transcripts
(`python -m benchmarks.desk`): scores, scaled to their best, mix better than ranks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ragforge.domain import bm25
from ragforge.domain.hits import Match, TurnMatch, WordMatches
from ragforge.domain.passages import Passage, get_turn_id
from ragforge.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PIECE_SHARE = 0.4
"""The part of its score by words that a turn has from its best piece."""
DONE = 0.2
"""How much the words of what was done count, compared with those of what was said."""
DEEDS = 0.2
"""How much it counts that a turn edited the files that a question is about."""
SAID_BEFORE = 1.2
"""How much the words of the session's last turns count."""
DONE_BEFORE = 0.8
"""How much it counts that a turn edited the files that the session touched last."""
DECAY = 0.7
"""What is left of a file's weight with each further turn of the session."""
READ = 0.3
"""The weight of a file that the session only read."""
SAID_TURNS, SAID_CHARS = 2, 4_000
FILE_TURNS, SESSION_FILES = 5, 30
"""How much of a session tells its subject."""

REACH = 4
"""How many turns away a word may occur."""
LENT = 0.8
MIN_LENT = 0.5
"""How much of a word's weight is left with each turn of distance, for a turn without words and for
an endless one: a long turn names its subject itself."""
HALF_WORDS = 100
"""A turn with this many words borrows half as much above the minimum."""
LONG_WORDS = 1_000
"""A turn of this length lends and borrows half as much as a short one."""

KEPT = 0.93
"""What is left of a score for each better hit of the same conversation."""


class LastTurn(NamedTuple):
    """One of the last turns of a session."""

    said: str
    edited: Sequence[str] = ()  # files, relative to the project
    read: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SessionSoFar:
    """The end of the session that asks: what was said, and which files count how much."""

    said: str = ""
    files: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, turns: Sequence[LastTurn]) -> SessionSoFar:
        """Return what the last turns of a session, oldest first, say of its subject."""
        said = "\n".join(turn.said for turn in turns[-SAID_TURNS:])[-SAID_CHARS:]
        files: dict[str, float] = {}
        for place, turn in enumerate(reversed(turns[-FILE_TURNS:])):
            for weight, names in ((1.0, turn.edited), (READ, turn.read)):
                for file in names:
                    files[file] = max(weight * DECAY**place, files.get(file, 0.0))
        best = sorted(files, key=lambda file: -files[file])[:SESSION_FILES]
        return cls(said, {file: files[file] for file in best})

    def __bool__(self) -> bool:
        return bool(self.said or self.files)


@dataclass(frozen=True, slots=True)
class TurnSignals:
    """Scores of turns, 0..1, in addition to those by all of their words."""

    pieces: Mapping[str, float] = field(default_factory=dict)
    done: Mapping[str, float] = field(default_factory=dict)
    deeds: Mapping[str, float] = field(default_factory=dict)
    said_before: Mapping[str, float] = field(default_factory=dict)
    done_before: Mapping[str, float] = field(default_factory=dict)

    @property
    def ids(self) -> frozenset[str]:
        """The turns that hold words of the question in a piece, or did what it is about."""
        return frozenset((*self.pieces, *self.done, *self.deeds))

    def join(self, other: TurnSignals) -> TurnSignals:
        """Return the higher score of both for each turn."""
        return TurnSignals(
            pieces=_keep_higher(self.pieces, other.pieces),
            done=_keep_higher(self.done, other.done),
            deeds=_keep_higher(self.deeds, other.deeds),
            said_before=_keep_higher(self.said_before, other.said_before),
            done_before=_keep_higher(self.done_before, other.done_before),
        )

    def add_to(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return scores with what these signals add to them, as shares of the best.

        No score exceeds 1.
        """
        best = max(scores.values(), default=0.0) or 1.0
        weighted = (
            (DONE, self.done),
            (DEEDS, self.deeds),
            (SAID_BEFORE, self.said_before),
            (DONE_BEFORE, self.done_before),
        )
        found = dict(scores)
        for weight, signal in weighted:
            for turn, score in signal.items():
                found[turn] = found.get(turn, 0.0) + weight * best * score
        highest = max(found.values(), default=0.0)
        return {turn: score / highest for turn, score in found.items()} if highest > 1 else found

    def mix_pieces(self, words: Mapping[str, float]) -> dict[str, float]:
        """Return the scores of turns by words with those of their best pieces.

        A short turn has no pieces: it is one itself.
        """
        if not self.pieces:
            return dict(words)
        best = max(words.values(), default=0.0) or 1.0
        return {
            turn: (1 - PIECE_SHARE) * words.get(turn, 0.0)
            + PIECE_SHARE * (best * self.pieces[turn] if turn in self.pieces else words[turn])
            for turn in {**words, **self.pieces}
        }


def _keep_higher(one: Mapping[str, float], two: Mapping[str, float]) -> dict[str, float]:
    return {turn: max(one.get(turn, 0.0), two.get(turn, 0.0)) for turn in {**one, **two}}


def keep_best(matches: Iterable[Match]) -> dict[str, float]:
    """Return turns with the scores of their best passages."""
    best: dict[str, float] = {}
    for match in matches:
        turn = get_turn_id(match.id)
        best[turn] = max(match.score, best.get(turn, 0.0))
    return best


def scale(scores: Mapping[str, float], is_cut: bool) -> dict[str, float]:
    """Return scores from 0 to 1, the best.

    Of a search that was cut at its limit the last one scores 0: what was left out is hardly worse.
    """
    if not scores:
        return {}
    highest = max(scores.values())
    lowest = min(scores.values()) if is_cut else 0.0
    room = max(highest - lowest, 1e-9)
    return {turn: (score - lowest) / room for turn, score in scores.items()}


def weigh_ranks(files: Sequence[str]) -> dict[str, float]:
    """Return files, the best first, with what each is worth."""
    return {file: 1 / (1 + rank) for rank, file in enumerate(files)}


def rank_deeds(passages: Iterable[Passage], worth: Mapping[str, float]) -> dict[str, float]:
    """Return turns by the worth of the files that they edited; many files say less of each."""
    found = {}
    for passage in passages:
        total = sum(worth.get(file, 0.0) for file in passage.files)
        if total:
            found[passage.turn_id] = total / len(passage.files) ** 0.5
    return scale(found, is_cut=False)


class RankedTurn(NamedTuple):
    """A turn found by words."""

    id: str
    score: float  # 0..1: the share of the query's weight
    has_words: bool  # whether it contains a word itself; else only its neighbours do


def rank_turns(found: WordMatches) -> list[RankedTurn]:
    """Return the turns by their words and their neighbours', best first."""
    matches = found.matches
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


def rank_by_own_words(found: WordMatches) -> dict[str, float]:
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
        largest: dict[str, int] = {}
        for word, number in numbers.items():
            name = name_of.get(word, word)
            largest[name] = max(number, largest.get(name, 0))
        return largest

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
    """Return which share of a neighbour's word counts for a turn of this length."""
    share = MIN_LENT + (LENT - MIN_LENT) * HALF_WORDS / (HALF_WORDS + length)
    return share * measure_lent(length)


def measure_lent(length: Any) -> Any:
    """Return which share of its words a turn of this length lends: a long one is not context."""
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


def mix_scores(
    words: Mapping[str, float], meaning: Mapping[str, float], meaning_weight: float
) -> dict[str, float]:
    """Return the weighted mean of the scores, each 0..1, of two searches; best first.

    Unlike ranks, scores show how much better one hit is than the next. If one search found
    nothing, the scores of the other are returned unchanged.
    """
    share = 0.0 if not meaning else 1.0 if not words else meaning_weight
    mixed = {
        found: (1 - share) * words.get(found, 0.0) + share * meaning.get(found, 0.0)
        for found in {**words, **meaning}
    }
    return sort_scores(mixed)


def sort_scores(scores: Mapping[str, float]) -> dict[str, float]:
    """Return scores, the best first."""
    return dict(sorted(scores.items(), key=itemgetter(1), reverse=True))


def scale_above(matches: Sequence[Match], threshold: float, limit: int) -> dict[str, float]:
    """Return how far the scores of a search are above a threshold, scaled to 0..1.

    A search that reached its limit may have left out matches that are hardly worse than its
    last. Then the last one scores 0, so that being left out makes no difference.
    """
    if len(matches) >= limit > 1:
        threshold = max(threshold, min(match.score for match in matches))
    room = max(1.0 - threshold, 1e-9)
    return {match.id: min(max((match.score - threshold) / room, 0.0), 1.0) for match in matches}


def list_signals(**found_by: bool) -> tuple[str, ...]:
    """Return the names of the searches that found something."""
    return tuple(name for name, is_true in found_by.items() if is_true)


def spread_scores(owners: Sequence[str], scores: Sequence[float]) -> list[float]:
    """Return the scores of hits, best first, each less for those before it of the same owner.

    So the best hits of one conversation do not hide those of others.
    """
    before: Counter[str] = Counter()
    spread = []
    for owner, score in zip(owners, scores, strict=True):
        spread.append(score * KEPT ** before[owner])
        before[owner] += 1
    return spread
