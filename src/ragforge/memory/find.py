"""Find: search what was said, and the summaries of it, together."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import (
    SUMMARY_CONFIDENCE,
    Match,
    MemoryHit,
    SummaryHit,
    TurnHit,
    WordsFound,
)
from ragforge.domain.summaries import Level, Summary, SummaryFilter, summary_text
from ragforge.domain.vectors import Vector
from ragforge.memory.recall import MEANING_WEIGHT, Recall, signals
from ragforge.search.fuse import above, convex
from ragforge.search.neighbours import coverage, worths
from ragforge.search.tokenise import WORDS

SUMMARIES_A_HIT = 5
"""How many summaries are compared for each that is wanted."""


async def search_conversation_history(
    recall: Recall,
    query: str,
    where: MemoryFilter,
    *,
    semantic: bool = True,
    max_results: int = 10,
    include_turns: bool = True,
    levels: Collection[Level] = (1, 2),
    min_score: float = 0.0,
) -> list[MemoryHit]:
    """Return turns and summaries of some levels that bear on the query, the best first.

    Best is what scores high and can be trusted: score × confidence. Dates are those of
    turns, and of when a summary was made. Without `semantic` words alone decide.
    """
    if max_results <= 0:
        return []
    by_words, meaning = await asyncio.gather(
        recall.words(query, where, max_results),
        recall.meaning(query) if semantic else _nothing(),
    )

    async def turns() -> list[TurnHit]:
        found = await recall.found_turns(by_words, meaning, where, max_results, min_score)
        return await recall.read(found)

    spoken, summaries = await asyncio.gather(
        turns() if include_turns else _none(),
        _summaries(recall, query, by_words, meaning, where, levels, max_results)
        if levels
        else _none(),
    )
    hits: list[MemoryHit] = [*spoken, *(hit for hit in summaries if hit.score >= min_score)]
    hits.sort(key=lambda hit: -hit.score * hit.confidence)
    return hits[:max_results]


async def _nothing() -> None:
    return None


async def _none() -> list[Any]:
    return []


async def _summaries(
    recall: Recall,
    query: str,
    by_words: WordsFound,
    meaning: Vector | None,
    where: MemoryFilter,
    levels: Collection[Level],
    limit: int,
) -> list[SummaryHit]:
    store, wanted = recall.summaries, limit * SUMMARIES_A_HIT
    chosen = SummaryFilter(
        conversation_id=where.conversation_id,
        project_path=where.project_path,
        level=next(iter(levels)) if len(set(levels)) == 1 else None,
        since=where.since,
        until=where.until,
    )
    told = await store.by_words(query, chosen, wanted)
    nearest: list[Match] = []
    if meaning is not None:
        nearest = await store.by_vector(meaning, chosen, wanted, recall.least)
    near = above(nearest, recall.least, wanted)
    read = await store.with_ids([*(match.id for match in told), *near])
    words = covered(query, [read[match.id] for match in told if match.id in read], by_words)
    mixed = convex(words, near, MEANING_WEIGHT)
    return [
        SummaryHit(
            read[found],
            score,
            SUMMARY_CONFIDENCE[read[found].level],
            signals(words=found in words, meaning=found in near),
        )
        for found, score in mixed.items()
        if found in read
    ]


def covered(query: str, summaries: Sequence[Summary], turns: WordsFound) -> dict[str, float]:
    """Return how much of the query each summary holds, 0..1, as turns are scored.

    A word is worth as much as it is rare among the turns.
    """
    held = {s.uuid: set(WORDS.document(summary_text(s)).split()) for s in summaries}
    counts = dict(turns.counts or {})
    for word in set(WORDS.query(query)).difference(counts):
        counts[word] = sum(word in words for words in held.values())
    worth = worths(WordsFound(counts=counts, turns=turns.turns))
    return {uuid: coverage(words, worth) for uuid, words in held.items()}
