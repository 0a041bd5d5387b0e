"""Find: search what was said, and the summaries of it, together."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import (
    NOTHING_RELEVANT,
    SMALL_TALK,
    SUMMARY_CONFIDENCE,
    Match,
    MemoryHit,
    RelevantHits,
    SummaryHit,
    WordMatches,
)
from ragforge.domain.summaries import Level, Summary, SummaryFilter, format_summary_for_search
from ragforge.errors import InputError
from ragforge.memory.recall import Recall, list_signals, mix_turns
from ragforge.search.fuse import mix_scores, scale_above
from ragforge.search.memory_relevance import (
    MIN_RELEVANCE,
    asks_about_past,
    estimate_memory_relevance,
)
from ragforge.search.neighbours import measure_coverage, name_groups, weigh_words
from ragforge.search.small_talk import is_small_talk
from ragforge.search.tokenise import WORDS
from ragforge.search.translate import expand_query
from ragforge.search.wording import Wording

LEVELS = (0, 1, 2)
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
    levels: Collection[int] = (0, 1, 2),
    min_score: float = 0.0,
    max_chars: int | None = None,
    relevant_only: bool = False,
) -> list[MemoryHit]:
    """Return turns and summaries of some levels that bear on the query, the best first.

    Level 0 are turns, which `include_turns` can leave out as well. Best is what scores high and
    can be trusted: score × confidence. Dates are those of turns, and of when a summary was made.
    Without `semantic` words alone decide. With `max_chars` no more turns are read than have so
    many characters together. With `relevant_only` nothing is returned if nothing
    that was said has to do with the query. Raises InputError for a level that does not exist.
    """
    if unknown := set(levels).difference(LEVELS):
        raise InputError(f"There is no level {min(unknown)}: 0 are turns, 1 and 2 summaries.")
    if max_results <= 0:
        return []
    include_turns = include_turns and 0 in levels
    wanted: list[Level] = [level for level in SUMMARY_CONFIDENCE if level in levels]
    by_words, nearest, summaries = await asyncio.gather(
        recall.words(query, where, max_results),
        recall.nearest(query, where, max_results) if semantic and include_turns else _none(),
        _search_summaries(recall, query, where, wanted, max_results, semantic=semantic),
    )
    near_most = _measure_nearest([*nearest, *summaries.nearest], recall.least) if semantic else None
    in_both = {query, expand_query(query, WORDS).english}  # of another language, perhaps
    likely = max(
        estimate_memory_relevance(WORDS.query(one), by_words, near_most) for one in in_both
    )
    if relevant_only and likely < MIN_RELEVANCE and not asks_about_past(query):
        return []
    hits: list[MemoryHit] = []
    if include_turns:
        near, weight = recall.shares(nearest, max_results), recall.meaning_weight
        best_turns = mix_turns(by_words, near, max_results, weight, min_score)
        hits += await recall.read(best_turns, max_chars)
    hits += (hit for hit in summaries.hits(by_words) if hit.score >= min_score)
    hits.sort(key=lambda hit: -hit.score * hit.confidence)
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    return [replace(hit, relevance=likely * hit.score / best) for hit in hits[:max_results]]


async def find_relevant_history(
    recall: Recall,
    message: str,
    where: MemoryFilter,
    max_results: int = 10,
    max_chars: int | None = None,
) -> RelevantHits[MemoryHit]:
    """Return what was said before that has to do with a message, or why nothing has.

    A message such as "yes, go on" gets nothing: what it means stands right above it.
    """
    if is_small_talk(message):
        return RelevantHits(reason=SMALL_TALK)
    hits = await search_conversation_history(
        recall, message, where, max_results=max_results, max_chars=max_chars, relevant_only=True
    )
    return RelevantHits(tuple(hits), "" if hits else NOTHING_RELEVANT)


async def _none() -> list[Match]:
    return []


def _measure_nearest(nearest: Sequence[Match], least: float) -> float | None:
    """Return how far the best stands above the least that counts, 0..1; None without a model."""
    if least >= 1.0:
        return None
    best = max((match.score for match in nearest), default=least)
    return min((best - least) / (1.0 - least), 1.0)


@dataclass(frozen=True, slots=True)
class _FoundSummaries:
    """Summaries that were found, before it is told how well they fit."""

    asked: Wording
    meaning_weight: float
    by_words: Sequence[Summary] = ()
    nearest: Sequence[Match] = ()
    near: Mapping[str, float] = field(default_factory=dict)
    read: Mapping[str, Summary] = field(default_factory=dict)

    def hits(self, turns: WordMatches) -> Iterator[SummaryHit]:
        """Yield them with their scores, for which words are worth what they are in turns."""
        words = measure_summaries(self.asked, self.by_words, turns)
        for found, score in mix_scores(words, self.near, self.meaning_weight).items():
            if (summary := self.read.get(found)) is not None:
                found_by = list_signals(words=found in words, meaning=found in self.near)
                confidence = SUMMARY_CONFIDENCE[summary.level]
                yield SummaryHit(summary, score, confidence, found_by)


async def _search_summaries(
    recall: Recall,
    query: str,
    where: MemoryFilter,
    levels: Sequence[Level],
    limit: int,
    *,
    semantic: bool,
) -> _FoundSummaries:
    nothing = _FoundSummaries(expand_query(query, WORDS), recall.meaning_weight)
    if not levels:
        return nothing
    store, wanted = recall.summaries, limit * SUMMARIES_A_HIT
    chosen = SummaryFilter(
        conversation_id=where.conversation_id,
        project_path=where.project_path,
        level=levels[0] if len(levels) == 1 else None,
        since=where.since,
        until=where.until,
    )

    async def by_meaning() -> list[Match]:
        meaning = await recall.meaning(query) if semantic else None
        if meaning is None:
            return []
        return await store.by_vector(meaning, chosen, wanted, recall.least)

    held, nearest = await asyncio.gather(
        store.by_words(nothing.asked.text, chosen, wanted), by_meaning()
    )
    if not held and not nearest:
        return nothing
    read = await store.with_ids([match.id for match in (*held, *nearest)])
    near = scale_above(nearest, recall.least, wanted)
    by_words = [read[match.id] for match in held if match.id in read]
    return replace(nothing, by_words=by_words, nearest=nearest, near=near, read=read)


def measure_summaries(
    asked: Wording, summaries: Sequence[Summary], turns: WordMatches
) -> dict[str, float]:
    """Return how much of what is asked each summary holds, 0..1, as turns are scored.

    A word is worth as much as it is rare among the turns.
    """
    name_of = name_groups(asked.groups)
    held = {
        s.uuid: {
            name_of.get(word, word) for word in WORDS.prose(format_summary_for_search(s)).split()
        }
        for s in summaries
    }
    counts = dict(turns.counts or {})
    wanted = {name_of.get(word, word) for word in WORDS.query(asked.text)}
    for word in wanted.difference(counts):
        counts[word] = sum(word in words for words in held.values())
    worth = weigh_words(WordMatches(counts=counts, turn_count=turns.turn_count))
    return {uuid: measure_coverage(words, worth) for uuid, words in held.items()}
