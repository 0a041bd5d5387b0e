"""Memory relevance: how likely a message is about something that was said before.

The scores of a search ignore words that occur in no turn: a recipe whose only known word is "oven"
finds the turn about the oven with a full score. Here such words count against it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ragforge.domain import bm25
from ragforge.domain.hits import MIN_RELEVANCE, WordMatches
from ragforge.patterns import compile_on_use
from ragforge.search.question.message_kinds import is_small_talk
from ragforge.search.question.wording import Wording
from ragforge.search.relevance import Evidence, estimate
from ragforge.search.turn_rank import merge_groups, name_groups
from ragforge.search.words.scripts import strip_accents
from ragforge.search.words.tokenise import WORDS

FEWEST_TURNS = 1_000
"""Weights are computed for at least this many turns: in a small memory every word is rare."""
MAX_HELD = 20.0
"""More weight in one turn does not make it likelier: three rare words are enough."""
ALL_HELD = 0.95
SMALL = 50
"""In a memory with fewer turns even words of its subject are unknown: they count half as much."""
MAX_UNKNOWN = 0.3
"""A message with a larger share of unknown words is about something else than its session."""


_PAST = compile_on_use(  # without accents
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
    wording: Wording, found: WordMatches, nearest: float | None = None
) -> float:
    """Return how likely a message in these words is about what was found, 0..1.

    `nearest` is how far the best turn, passage or summary is above the threshold of the embedding
    model, 0..1. It is None without a model: then only words decide. They also decide where one
    turn holds them all, since a short question may be far from a long turn, and in a small memory,
    whose turns may have no vectors yet.
    """
    words, found = count_words(wording, found)
    evidence = gather_memory_evidence(words, found, nearest)
    by_words = estimate("memory", evidence, by_meaning=False)
    if nearest is None:
        return by_words
    likely = estimate("memory", evidence)
    by_words_too = found.turn_count < SMALL or _are_held_together(words, found)
    return max(likely, by_words) if by_words_too else likely


def deserves_memories(
    message: str, wording: Wording, found: WordMatches, relevance: float, in_session: bool
) -> bool:
    """Tell whether a message is relevant, asks for the past, or follows a session.

    It follows its session if it says little that is new, as "yes, continue" does.
    """
    if relevance >= MIN_RELEVANCE or asks_about_past(message):
        return True
    follows = is_small_talk(message) or measure_unknown(wording, found) <= MAX_UNKNOWN
    return in_session and follows


def measure_unknown(wording: Wording, found: WordMatches) -> float:
    """Return the share of the weight of a message's words that no turn holds, 0..1."""
    words, found = count_words(wording, found)
    return _share_unknown(_weigh_words(words, found), found)


def count_words(wording: Wording, found: WordMatches) -> tuple[list[str], WordMatches]:
    """Return the words of a message and their matches; those that mean the same are one word."""
    words = WORDS.query(wording.text)
    if not wording.groups:
        return words, found
    names = name_groups(wording.groups)
    return list(dict.fromkeys(names.get(word, word) for word in words)), merge_groups(
        found, wording.groups
    )


def gather_memory_evidence(
    words: Sequence[str], found: WordMatches, nearest: float | None
) -> Evidence:
    """Return the evidence that a message with these words is about what was found."""
    weights = _weigh_words(words, found)
    told = found.turn_count / (found.turn_count + SMALL)
    return Evidence(
        meaning=math.sqrt(max(nearest or 0.0, 0.0)),
        held=min(_weigh_best_turn(weights, found) / MAX_HELD, 1.0),
        unknown=told * _share_unknown(weights, found),
    )


def _share_unknown(weights: Mapping[str, float], found: WordMatches) -> float:
    total, counts = sum(weights.values()), found.counts or {}
    unknown = sum(weight for word, weight in weights.items() if not counts.get(word))
    return unknown / total if total else 0.0


def _weigh_best_turn(weights: Mapping[str, float], found: WordMatches) -> float:
    """Return the largest weight of words that one turn holds."""
    each = {tuple(match.words) for match in found.matches}  # many turns have the same words
    return max((sum(weights.get(word, 0.0) for word in some) for some in each), default=0.0)


def _are_held_together(words: Sequence[str], found: WordMatches) -> bool:
    """Tell whether one turn holds all words of a message, common ones aside."""
    weights = _weigh_words(words, found)
    total = sum(weights.values())
    return total > 0 and _weigh_best_turn(weights, found) >= ALL_HELD * total


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
