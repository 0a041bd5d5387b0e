"""Quick: rank turns for a process that asks once, such as a hook.

Words and deeds find turns; meaning compares only the best of them, which needs no arrays: to load
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
from ragforge.search.memory_relevance import deserves_memories, estimate_memory_relevance
from ragforge.search.question.message_kinds import needs_nothing
from ragforge.search.question.wording import expand_query
from ragforge.search.turn_rank import (
    SessionSoFar,
    keep_best,
    merge_groups,
    mix_scores,
    rank_by_own_words,
    scale,
    scale_above,
    sort_scores,
)
from ragforge.search.words.tokenise import WORDS

TURNS = 100
COMPARED = 12
"""For how many of the best turns it is looked up how near they are in meaning."""
PASSAGES = 200
MEANING = 0.35
"""The weight of meaning against words."""


class QuickRanking(NamedTuple):
    """Turns with their scores, the best first, by what they were found, and how relevant."""

    scores: Mapping[str, float] = {}
    found: FoundSignals = FoundSignals()
    relevance: float = 0.0  # the probability that the message is about what was said before


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
    words = scale(rank_by_own_words(grouped), is_cut=len(matched.matches) >= TURNS)
    scores = found.signals.mix_pieces(words)
    nearest = None
    if embedder is not None and (near := await _compare(store, embedder, message, scores)):
        nearest = max(near.values())
        scores = mix_scores(scores, near, MEANING)
    relevance = estimate_memory_relevance(wording, matched, nearest)
    if not deserves_memories(message, wording, matched, relevance, bool(session)):
        return QuickRanking(relevance=relevance)
    return QuickRanking(sort_scores(found.signals.add_to(scores)), found, relevance)


async def _compare(
    store: Store, embedder: Embedder, message: str, scores: Mapping[str, float]
) -> dict[str, float]:
    """Return how far the passages of the best turns are above the threshold, 0..1."""
    vector = await embed_query(embedder, message)
    best = list(sort_scores(scores))[:COMPARED]
    if vector is None or not best:
        return {}
    of_best = PassageFilter(kind="said", turn_ids=best)
    found = await store.index.search(PASSAGE, "", vector, of_best, PASSAGES, read=0)
    near = [Match(*item) for item in keep_best(found.by_vector).items()]
    return scale_above(near, embedder.history_threshold, 0)
