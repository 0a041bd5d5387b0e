"""Summaries: search the summaries of conversations by words and by meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import SUMMARY_CONFIDENCE, Match, SummaryHit, WordMatches
from ragforge.domain.schema import SUMMARY
from ragforge.domain.summaries import Level, Summary, SummaryFilter, format_summary_for_search
from ragforge.memory.embed import embed_query
from ragforge.memory.search.turns import MemorySearch
from ragforge.records import dataclass
from ragforge.search.question.wording import Wording, expand_query
from ragforge.search.turn_rank import (
    list_signals,
    measure_coverage,
    mix_scores,
    name_groups,
    scale_above,
    weigh_words,
)
from ragforge.search.words.tokenise import WORDS

SUMMARIES_A_HIT = 5
"""How many summaries are compared for each one that is wanted."""
MAX_SUMMARIES = 40
"""The limit for many hits: a long session has hundreds, and most have some word of a question."""
_REMEMBERED = 4_096
"""The number of summaries whose words are cached."""


@dataclass(frozen=True, slots=True)
class FoundSummaries:
    """Summaries that were found, before they are scored."""

    wording: Wording
    meaning_weight: float
    by_words: Sequence[Summary] = ()
    nearest: Sequence[Match] = ()
    near: Mapping[str, float] = field(default_factory=dict)
    read: Mapping[str, Summary] = field(default_factory=dict)

    def score(self, turns: WordMatches) -> Iterator[SummaryHit]:
        """Yield the summaries with their scores. Words weigh what they weigh among the turns."""
        words = measure_summaries(self.wording, self.by_words, turns)
        for found, score in mix_scores(words, self.near, self.meaning_weight).items():
            if (summary := self.read.get(found)) is not None:
                found_by = list_signals(words=found in words, meaning=found in self.near)
                confidence = SUMMARY_CONFIDENCE[summary.level]
                yield SummaryHit(summary, score, confidence, found_by)


async def search_summaries(
    memory: MemorySearch, query: str, where: MemoryFilter, levels: Sequence[Level], limit: int
) -> FoundSummaries:
    """Return the summaries of some levels that are relevant to the query, not yet scored."""
    nothing = FoundSummaries(expand_query(query, WORDS), memory.meaning_weight)
    if not levels:
        return nothing
    wanted = min(limit * SUMMARIES_A_HIT, MAX_SUMMARIES)
    chosen = SummaryFilter(
        conversation_id=where.conversation_id,
        project_ids=where.project_ids,
        level=levels[0] if len(levels) == 1 else None,
        since=where.since,
        until=where.until,
    )
    vector = await embed_query(memory.embedder, query)
    matched, nearest, read = await memory.store.index.search(
        SUMMARY, nothing.wording.text, vector, chosen, wanted, memory.threshold
    )
    if not matched and not nearest:
        return nothing
    near = scale_above(nearest, memory.threshold, wanted)
    by_words = [read[match.id] for match in matched if match.id in read]
    return replace(nothing, by_words=by_words, nearest=nearest, near=near, read=read)


@lru_cache(_REMEMBERED)
def _list_words(text: str) -> frozenset[str]:
    """Return the words of a summary; every question meets the same summaries again."""
    return frozenset(WORDS.prose(text).split())


def measure_summaries(
    wording: Wording, summaries: Sequence[Summary], turns: WordMatches
) -> dict[str, float]:
    """Return how much of the query each summary contains, 0..1, weighted by rarity among turns."""
    name_of = name_groups(wording.groups)
    counts = dict(turns.counts or {})
    wanted = {name_of.get(word, word) for word in WORDS.query(wording.text)}
    looked_for = wanted.union(counts, name_of)
    held = {
        summary.uuid: {
            name_of.get(word, word)
            for word in looked_for & _list_words(format_summary_for_search(summary))
        }
        for summary in summaries
    }
    for word in wanted.difference(counts):
        counts[word] = sum(word in words for words in held.values())
    weights = weigh_words(WordMatches(counts=counts, turn_count=turns.turn_count))
    return {uuid: measure_coverage(words, weights) for uuid, words in held.items()}
