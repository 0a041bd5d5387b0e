"""Memory relevance: how likely a message is about something that was said before.

The estimate is a probability, and compares across memories; scores of a search do not. They ignore
words that occur in no turn: a recipe whose only known word is "oven" finds the turn about the oven
with a full score. Here such words count against it. The weights were fitted on questions about
programmers' and people's histories and on messages about other subjects, by
`python -m benchmarks.memory_relevance --fit` (decision 65).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from ragforge.domain import bm25
from ragforge.domain.hits import WordMatches
from ragforge.search.scripts import strip_accents

MIN_RELEVANCE = 0.5
"""A less likely message gets no memories."""
FEWEST_TURNS = 1_000
"""Weights are computed for at least so many turns: in a small memory every word is rare."""
MOST_HELD = 20.0
"""More weight in one turn does not make it likelier: three rare words are enough."""
MOST_UNKNOWN = 0.3
"""A message with a larger share of unknown words is about something else than its session."""


class MemoryEvidence(NamedTuple):
    """The evidence that a message is about what was said before."""

    unknown: float  # the share of its words' weight that no turn holds, 0..1
    held: float  # the weight of its words that one turn holds, 0..1
    nearest: float  # how near the nearest turn or passage is, 0..1


BIAS, WEIGHTS = -4.21, MemoryEvidence(-2.55, 5.26, 5.01)
BIAS_BY_WORDS, WEIGHTS_BY_WORDS = -3.19, MemoryEvidence(-3.18, 7.66, 0.0)

_PAST = re.compile(  # without accents
    r"\b(?:remember|recall|earlier|previously|yesterday|last (?:time|week|month|session|year)"
    r"|(?:we|you|i) (?:discuss|talk|decid|agree|said|spoke|tried|wrote|mention|settle)\w*"
    r"|(?:did|had|have) (?:we|i)|(?:our|the) (?:last|previous) (?:session|conversation|discussion)"
    r"|souvien\w*|rappelle\w*|precedemment|derniere (?:fois|semaine|session)|hier (?:soir|matin)"
    r"|(?:avons|avions|avait|as|avez)[- ](?:nous|on|tu|vous)|(?:on|nous) (?:a|avait|avons|avions)"
    r"|erinner\w*|gestern|vorhin|letzte[sn]? (?:mal|woche|sitzung)|besprochen|(?:haben|hatten) wir"
    r"|recuerda\w*|ayer|ultima vez|hablamos|decidimos|dijimos|semana pasada"
    r"|ricord\w*|ieri|ultima volta|abbiamo (?:detto|deciso|parlato)|settimana scorsa)\b"
)


def gather_memory_evidence(
    words: Sequence[str], found: WordMatches, nearest: float | None
) -> MemoryEvidence:
    """Return the evidence that a message with these words is about what was found.

    `nearest` is how far the best turn, passage or summary is above the threshold of the embedding
    model, 0..1.
    """
    weights = _weigh_words(words, found)
    total = sum(weights.values())
    counts = found.counts or {}
    unknown = sum(weight for word, weight in weights.items() if not counts.get(word))
    each = {tuple(match.words) for match in found.matches}  # many turns have the same words
    held = max((sum(weights.get(word, 0.0) for word in some) for some in each), default=0.0)
    return MemoryEvidence(
        unknown / total if total else 0.0,
        min(held / MOST_HELD, 1.0),
        math.sqrt(max(nearest or 0.0, 0.0)),
    )


def estimate_memory_relevance(
    words: Sequence[str], found: WordMatches, nearest: float | None = None
) -> float:
    """Return how likely a message with these words is about what was found, 0..1.

    `nearest` is None without a model: then words alone decide.
    """
    evidence = gather_memory_evidence(words, found, nearest)
    by_words = nearest is None
    bias, weights = (BIAS_BY_WORDS, WEIGHTS_BY_WORDS) if by_words else (BIAS, WEIGHTS)
    total = bias + sum(map(float.__mul__, evidence, weights))
    return 1 / (1 + math.exp(-total))


def measure_unknown(words: Sequence[str], found: WordMatches) -> float:
    """Return the share of the words' weight that no turn holds, 0..1."""
    return gather_memory_evidence(words, found, None).unknown


def asks_about_past(message: str) -> bool:
    """Tell whether a message refers to earlier conversations: then the best hits are shown,
    whatever its other words.
    """
    folded = strip_accents(message).casefold()
    return _PAST.search(folded) is not None


def _weigh_words(words: Sequence[str], found: WordMatches) -> dict[str, float]:
    """Return the weight of each word: the rarer, the higher, and highest if it never occurs.

    Words that were too common to search for have none.
    """
    counts, turns = found.counts or {}, max(found.turn_count, FEWEST_TURNS)
    return {
        word: bm25.weigh_word(turns, counts.get(word, 0))
        for word in words
        if word not in found.too_common
    }
