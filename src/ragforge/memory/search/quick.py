"""Quick: rank turns for a process that asks once, such as a hook.

Words and deeds find turns; meaning compares the best of them alone, which needs no arrays: to load
these takes longer than all else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ragforge.concurrency import gather_or_cancel
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import Match
from ragforge.domain.passages import PassageFilter
from ragforge.domain.schema import PASSAGE
from ragforge.memory.embed import embed_query
from ragforge.memory.search.signals import NO_SESSION, FoundSignals, find_signals
from ragforge.ports.embedder import Embedder
from ragforge.ports.store import Store
from ragforge.search.chores import needs_nothing
from ragforge.search.fuse import mix_scores, scale_above, sort_scores
from ragforge.search.memory_relevance import (
    MIN_RELEVANCE,
    MOST_UNKNOWN,
    asks_about_past,
    estimate_memory_relevance,
    measure_unknown,
)
from ragforge.search.neighbours import merge_groups, rank_alone
from ragforge.search.small_talk import is_small_talk
from ragforge.search.tokenise import WORDS
from ragforge.search.translate import expand_query
from ragforge.search.turn_rank import SessionSoFar, keep_best, scale

TURNS = 100
COMPARED = 12
"""For so many of the best turns it is looked up how near they are in meaning."""
PASSAGES = 200
MEANING = 0.35
"""How much meaning counts beside words."""


class QuickRanking(NamedTuple):
    """Turns with their scores, the best first, by what they were found, and how relevant."""

    scores: Mapping[str, float] = {}
    found: FoundSignals = FoundSignals()
    relevance: float = 0.0  # the probability that the message is about what was said before
    follows: bool = False  # it names nothing: its subject is that of the session


async def rank_quickly(
    store: Store,
    embedder: Embedder | None,
    message: str,
    where: MemoryFilter,
    session: SessionSoFar = NO_SESSION,
) -> QuickRanking:
    """Return the turns that are relevant to a message, or to the session where it names nothing."""
    if needs_nothing(message, bool(session)):
        return QuickRanking()
    wording = expand_query(message, WORDS)
    by_words, found = await gather_or_cancel(
        store.index.match_turns(wording.text, where, TURNS, 0),
        find_signals(store, wording.text, where, session=session),
    )
    matched = by_words[0]
    grouped = merge_groups(matched, wording.groups) if wording.groups else matched
    words = scale(rank_alone(grouped), is_cut=len(matched.matches) >= TURNS)
    scores = found.signals.mix_pieces(words)
    near: dict[str, float] = {}
    nearest = None
    if embedder is not None and (matches := await _compare(store, embedder, message, scores)):
        near = keep_best(matches)
        nearest = max(
            (max(near.values()) - embedder.history_threshold) / (1 - embedder.history_threshold),
            0.0,
        )
        scores = mix_scores(
            scores,
            scale_above([Match(*item) for item in near.items()], embedder.history_threshold, 0),
            MEANING,
        )
    relevance = estimate_memory_relevance(wording, matched, nearest)
    unknown = measure_unknown(wording, matched)
    follows = bool(session) and (unknown <= MOST_UNKNOWN or is_small_talk(message))
    if relevance < MIN_RELEVANCE and not follows and not asks_about_past(message):
        return QuickRanking(relevance=relevance)
    return QuickRanking(sort_scores(found.signals.add_to(scores)), found, relevance, follows)


async def _compare(
    store: Store, embedder: Embedder, message: str, scores: Mapping[str, float]
) -> list[Match]:
    """Return how near the passages of the best turns are in meaning."""
    vector = await embed_query(embedder, message)
    best = list(sort_scores(scores))[:COMPARED]
    if vector is None or not best:
        return []
    of_best = PassageFilter(kind="said", turn_ids=best)
    found = await store.index.search(PASSAGE, "", vector, of_best, PASSAGES, read=0)
    return list(found.by_vector)
