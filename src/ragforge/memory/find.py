"""Find: search what was said, and the summaries of it, together."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import (
    SUMMARY_CONFIDENCE,
    MemoryHit,
    SummaryHit,
    WordsFound,
)
from ragforge.domain.summaries import Level, Summary, SummaryFilter, summary_text
from ragforge.memory.recall import Recall, mixed_turns, signals
from ragforge.search.fuse import above, convex
from ragforge.search.neighbours import coverage, name_groups, worths
from ragforge.search.tokenise import WORDS
from ragforge.search.wording import Wording, expand_query

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
    by_words, near, summaries = await asyncio.gather(
        recall.words(query, where, max_results),
        recall.near(query, where, max_results) if semantic and include_turns else _none(),
        _told(recall, query, where, levels, max_results, semantic=semantic),
    )
    hits: list[MemoryHit] = []
    if include_turns:
        weight = recall.meaning_weight
        hits += await recall.read(mixed_turns(by_words, near, max_results, weight, min_score))
    hits += (hit for hit in summaries.hits(by_words) if hit.score >= min_score)
    hits.sort(key=lambda hit: -hit.score * hit.confidence)
    return hits[:max_results]


async def _none() -> dict[str, float]:
    return {}


@dataclass(frozen=True, slots=True)
class _Summaries:
    """Summaries that were found, before it is told how well they fit."""

    asked: Wording
    meaning_weight: float
    by_words: Sequence[Summary] = ()
    near: Mapping[str, float] = field(default_factory=dict)
    read: Mapping[str, Summary] = field(default_factory=dict)

    def hits(self, turns: WordsFound) -> Iterator[SummaryHit]:
        """Yield them with their scores, for which words are worth what they are in turns."""
        words = covered(self.asked, self.by_words, turns)
        for found, score in convex(words, self.near, self.meaning_weight).items():
            if (summary := self.read.get(found)) is not None:
                found_by = signals(words=found in words, meaning=found in self.near)
                confidence = SUMMARY_CONFIDENCE[summary.level]
                yield SummaryHit(summary, score, confidence, found_by)


async def _told(
    recall: Recall,
    query: str,
    where: MemoryFilter,
    levels: Collection[Level],
    limit: int,
    *,
    semantic: bool,
) -> _Summaries:
    nothing = _Summaries(expand_query(query, WORDS), recall.meaning_weight)
    if not levels:
        return nothing
    store, wanted = recall.summaries, limit * SUMMARIES_A_HIT
    chosen = SummaryFilter(
        conversation_id=where.conversation_id,
        project_path=where.project_path,
        level=next(iter(levels)) if len(set(levels)) == 1 else None,
        since=where.since,
        until=where.until,
    )

    async def nearest() -> dict[str, float]:
        meaning = await recall.meaning(query) if semantic else None
        if meaning is None:
            return {}
        matches = await store.by_vector(meaning, chosen, wanted, recall.least)
        return above(matches, recall.least, wanted)

    told, near = await asyncio.gather(store.by_words(nothing.asked.text, chosen, wanted), nearest())
    if not told and not near:
        return nothing
    read = await store.with_ids([*(match.id for match in told), *near])
    by_words = [read[match.id] for match in told if match.id in read]
    return replace(nothing, by_words=by_words, near=near, read=read)


def covered(asked: Wording, summaries: Sequence[Summary], turns: WordsFound) -> dict[str, float]:
    """Return how much of what is asked each summary holds, 0..1, as turns are scored.

    A word is worth as much as it is rare among the turns.
    """
    name_of = name_groups(asked.groups)
    held = {
        s.uuid: {name_of.get(word, word) for word in WORDS.prose(summary_text(s)).split()}
        for s in summaries
    }
    counts = dict(turns.counts or {})
    wanted = {name_of.get(word, word) for word in WORDS.query(asked.text)}
    for word in wanted.difference(counts):
        counts[word] = sum(word in words for words in held.values())
    worth = worths(WordsFound(counts=counts, turns=turns.turns))
    return {uuid: coverage(words, worth) for uuid, words in held.items()}
