"""Memory relevance: how likely a message is about something that was said before.

The estimate compares across memories; scores of a search do not. They ignore words that occur in no
turn: a recipe whose only known word is "oven" finds the turn about the oven with a full score. Here
such words count. Weights by `python -m benchmarks.memory_relevance --fit` (decision 20).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ragforge.domain import bm25
from ragforge.domain.hits import WordMatches
from ragforge.search.scripts import strip_accents

MIN_RELEVANCE = 0.12
"""A less likely message gets no memories. The threshold is low, since past turns often answer
questions with which they share few words."""
FEWEST_TURNS = 1_000
"""Weights are computed for at least so many turns: in a small memory every word is rare."""
BIAS, WORDS, MEANING = -3.78, 5.87, 8.55
BIAS_BY_WORDS, WORDS_ALONE = -3.29, 10.22

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


def estimate_memory_relevance(
    words: Sequence[str], found: WordMatches, nearest: float | None = None
) -> float:
    """Return how likely a message with these words is about what was found, 0..1.

    `nearest` is how far the best turn or summary is above the threshold of the embedding model,
    or None without a model.
    """
    held = measure_word_share(words, found)
    if nearest is None:
        total = BIAS_BY_WORDS + WORDS_ALONE * held
    else:
        total = BIAS + WORDS * held + MEANING * nearest
    return 1 / (1 + math.exp(-total))


def measure_word_share(words: Sequence[str], found: WordMatches) -> float:
    """Return the largest share of the words' weights that one turn contains, 0..1."""
    weights = _weigh_words(words, found)
    total = sum(weights.values())
    each = {tuple(match.words) for match in found.matches}  # many turns have the same words
    held = (sum(weights.get(word, 0.0) for word in some) for some in each)
    return max(held, default=0.0) / total if total else 0.0


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
