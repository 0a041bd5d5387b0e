"""Remembered: how likely a message has to do with what was said before, the same in every memory.

Scores of recall are shares of what somebody said at all: a recipe whose only known word is
"oven" finds the turn about the oven with a full score. Here the words that nobody said count
as well. Weights by `python -m benchmarks.memory_relevance --fit` (decision 20).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ragforge.domain import bm25
from ragforge.domain.hits import WordMatches
from ragforge.search.scripts import strip_accents

MIN_RELEVANCE = 0.12
"""A message that is less likely to have to do with the past gets nothing of it. It is low:
what was said answers questions that share few words with it."""
FEWEST_TURNS = 1_000
"""In a small memory every word is rare: a word is worth what it is among so many turns."""
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
    """Return how likely a message with these words has to do with what was found, 0..1.

    `nearest` is how far the best turn or summary stands above the threshold of the model of
    meaning, None without one.
    """
    held = measure_word_share(words, found)
    if nearest is None:
        total = BIAS_BY_WORDS + WORDS_ALONE * held
    else:
        total = BIAS + WORDS * held + MEANING * nearest
    return 1 / (1 + math.exp(-total))


def measure_word_share(words: Sequence[str], found: WordMatches) -> float:
    """Return how much of what the words are worth stands in one turn, 0..1."""
    worth = _weigh_words(words, found)
    every = sum(worth.values())
    held = (sum(worth.get(word, 0.0) for word in match.words) for match in found.matches)
    return max(held, default=0.0) / every if every else 0.0


def asks_about_past(message: str) -> bool:
    """Tell whether a message speaks of what was said or done before: then the best there is
    is shown, whatever words it has.
    """
    folded = strip_accents(message).casefold()
    return _PAST.search(folded) is not None


def _weigh_words(words: Sequence[str], found: WordMatches) -> dict[str, float]:
    """Return what each word is worth: the rarer, the more, and most where nobody said it.

    Those so common that they were not looked for are worth nothing.
    """
    counts, turns = found.counts or {}, max(found.turn_count, FEWEST_TURNS)
    return {
        word: bm25.weigh_word(turns, counts.get(word, 0))
        for word in words
        if word not in found.too_common
    }
