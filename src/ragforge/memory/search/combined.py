"""Combined search: turns, summaries and notes in one ranking."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import lru_cache, reduce
from typing import Any

from ragforge.concurrency import gather_or_cancel
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import (
    NOTHING_RELEVANT,
    SMALL_TALK,
    SUMMARY_CONFIDENCE,
    HistoryHit,
    Match,
    MemoryHit,
    RelevantHits,
    SummaryHit,
    TurnHit,
    WordMatches,
)
from ragforge.domain.instants import now
from ragforge.domain.notes import NoteFilter
from ragforge.domain.schema import SUMMARY
from ragforge.domain.summaries import Level, Summary, SummaryFilter, format_summary_for_search
from ragforge.errors import InputError
from ragforge.memory.embed import embed_query
from ragforge.memory.notes import Notebook
from ragforge.memory.search.signals import NO_SESSION, FoundSignals
from ragforge.memory.search.turns import (
    SPARE_TURNS,
    MemorySearch,
    estimate_chars,
    merge_nearest,
    mix_turns,
)
from ragforge.records import dataclass
from ragforge.search.memory_relevance import deserves_memories, estimate_memory_relevance
from ragforge.search.question.message_kinds import asks_for_several, needs_nothing
from ragforge.search.question.times import TimeSpan, find_event, find_spans
from ragforge.search.question.wording import Wording, expand_query
from ragforge.search.turn_rank import (
    SessionSoFar,
    TurnSignals,
    list_signals,
    measure_coverage,
    mix_scores,
    name_groups,
    scale_above,
    spread_scores,
    weigh_words,
)
from ragforge.search.words.tokenise import WORDS

SUMMARIES_A_HIT = 5
"""How many summaries are compared for each one that is wanted."""
MAX_SUMMARIES = 40
"""The limit for many hits: a long session has hundreds, and most have some word of a question."""
_REMEMBERED = 4_096
"""The number of summaries whose words are cached."""
LEVELS = (0, 1, 2)
MORE_FOR_SEVERAL = 25
"""How many more turns are read for a question whose answer may be spread over conversations."""


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


async def search_conversation_history(
    memory: MemorySearch,
    query: str,
    where: MemoryFilter,
    *,
    semantic: bool = True,
    max_results: int = 10,
    include_turns: bool = True,
    levels: Collection[int] = LEVELS,
    min_score: float = 0.0,
    max_chars: int | None = None,
    relevant_only: bool = False,
    standing: Collection[str] | None = None,
    session: SessionSoFar = NO_SESSION,
) -> list[MemoryHit]:
    """Return turns and summaries that are relevant to the query, the best first.

    Level 0 means turns, which `include_turns` can leave out as well. Hits are ordered by
    score × confidence. Dates are those of turns, and of when a summary was made. Without
    `semantic`, only words count. With `max_chars`, no more turns are read than have that number of
    characters together. With `relevant_only`, the result is empty if nothing that was said is
    relevant to the query. `standing` are the turns with standing instructions, if they are listed
    already. `session` is the end of the session that asks. Raises InputError for a level that does
    not exist.
    """
    if unknown := set(levels).difference(LEVELS):
        raise InputError(f"There is no level {min(unknown)}: 0 are turns, 1 and 2 summaries.")
    if max_results <= 0:
        return []
    if not semantic:
        memory = replace(memory, embedder=None)
    include_turns = include_turns and 0 in levels
    wanted: list[Level] = [level for level in SUMMARY_CONFIDENCE if level in levels]
    unlisted = include_turns and standing is None
    (by_words, nearest), found, timed, listed, summaries = await gather_or_cancel(
        memory.match(query, where, max_results, include_turns),
        memory.find_signals(query, where, session) if include_turns else _find_no_signals(),
        match_in_time(memory, query, where, max_results, standing)
        if include_turns
        else _find_nothing(),
        memory.list_standing(where) if unlisted else _find_nothing(),
        search_summaries(memory, query, where, wanted, max_results),
    )
    all_near = (*nearest, *found.nearest, *summaries.nearest)
    closeness = _measure_closeness(all_near, memory.threshold)
    nearest = merge_nearest(nearest, found.nearest, memory.threshold)
    wording = expand_query(query, WORDS)
    likely = estimate_memory_relevance(wording, by_words, closeness)
    if relevant_only and not deserves_memories(query, wording, by_words, likely, bool(session)):
        return []
    hits: list[MemoryHit] = []
    if include_turns:
        if timed.ids:
            by_words, nearest = timed.add_to(by_words, nearest)
            found = found._replace(signals=found.signals.join(timed.signals))
        near, weight = memory.scale_nearest(nearest, max_results), memory.meaning_weight
        several = asks_for_several(query)
        wanted_turns = max_results + (MORE_FOR_SEVERAL if several else 0)
        best_turns = mix_turns(
            by_words,
            near,
            wanted_turns + SPARE_TURNS,
            weight,
            found.signals,
            min_score,
            standing=frozenset(listed if standing is None else standing),
            in_time=timed.ids,
        )
        usual = estimate_chars(by_words)
        turns = await memory.read_turns(best_turns, wanted_turns, max_chars, usual)
        hits += _spread(turns) if several else turns
    hits += (hit for hit in summaries.score(by_words) if hit.score >= min_score)
    hits.sort(key=lambda hit: -hit.score * hit.confidence)
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    return [hit.with_relevance(likely * hit.score / best) for hit in hits[:max_results]]


async def find_relevant_history(
    memory: MemorySearch,
    message: str,
    where: MemoryFilter,
    max_results: int = 10,
    max_chars: int | None = None,
    standing: Collection[str] | None = None,
    session: SessionSoFar = NO_SESSION,
) -> RelevantHits[MemoryHit]:
    """Return what was said before that is relevant to a message, or why nothing is.

    A message such as "yes, please" gets nothing. The arguments are those of
    `search_conversation_history`.
    """
    if needs_nothing(message, bool(session)):
        return RelevantHits(reason=SMALL_TALK)
    hits = await search_conversation_history(
        memory,
        message,
        where,
        max_results=max_results,
        max_chars=max_chars,
        relevant_only=True,
        standing=standing,
        session=session,
    )
    return RelevantHits(tuple(hits), "" if hits else NOTHING_RELEVANT)


async def search_memory(
    memory: MemorySearch,
    notebook: Notebook,
    query: str,
    where: MemoryFilter,
    *,
    semantic: bool = True,
    max_results: int = 10,
    include_turns: bool = True,
    include_notes: bool | None = None,
    levels: Collection[int] = LEVELS,
    min_score: float = 0.0,
) -> list[HistoryHit]:
    """Return turns, summaries and notes that are relevant to the query, the best first.

    The arguments are those of `search_conversation_history`. Notes are included where turns
    are, unless `include_notes` decides. Those of one conversation were made in it.
    """
    book = notebook if semantic else replace(notebook, embedder=None)
    of_notes = NoteFilter(
        where.project_ids, where.conversation_id, since=where.since, until=where.until
    )
    with_notes = include_turns and 0 in levels if include_notes is None else include_notes
    said, notes = await gather_or_cancel(
        search_conversation_history(
            memory,
            query,
            where,
            semantic=semantic,
            max_results=max_results,
            include_turns=include_turns,
            levels=levels,
            min_score=min_score,
        ),
        book.search(query, of_notes, max_results) if with_notes else _find_nothing(),
    )
    hits: list[HistoryHit] = [*(note for note in notes if note.score >= min_score), *said]
    hits.sort(key=lambda hit: -hit.relevance * hit.confidence)
    return hits[:max_results]


async def _find_nothing() -> list[Any]:
    return []


async def _find_no_signals() -> FoundSignals:
    return FoundSignals()


def _spread(hits: Sequence[TurnHit]) -> list[TurnHit]:
    """Return the hits with less for those of a conversation that has given better ones."""
    owners, scores = [hit.conversation_id for hit in hits], [hit.score for hit in hits]
    spread = spread_scores(owners, scores)
    return [hit.with_score(score) for hit, score in zip(hits, spread, strict=True)]


def _measure_closeness(nearest: Sequence[Match], threshold: float) -> float | None:
    """Return how far the best match is above the threshold, 0..1; None without a model."""
    if threshold >= 1.0:
        return None
    best = max((match.score for match in nearest), default=threshold)
    return min((best - threshold) / (1.0 - threshold), 1.0)


@dataclass(frozen=True, slots=True)
class TimedMatches:
    """Turns of the time that a question names; empty if it names none."""

    by_words: Sequence[WordMatches] = ()
    nearest: Sequence[Match] = ()
    signals: TurnSignals = TurnSignals()

    @property
    def ids(self) -> frozenset[str]:
        found = {match.id for some in self.by_words for match in some.matches}
        return self.signals.ids.union(found, (match.id for match in self.nearest))

    def add_to(
        self, by_words: WordMatches, nearest: Sequence[Match]
    ) -> tuple[WordMatches, list[Match]]:
        """Return the matches of the whole search with these. Words weigh what they weigh there."""
        counts, matches = by_words.counts or {}, {one.id: one for one in by_words.matches}
        for match in (match for some in self.by_words for match in some.matches):
            held = {word: times for word, times in match.words.items() if word in counts}
            matches.setdefault(match.id, match._replace(words=held))
        near = {match.id: match for match in (*self.nearest, *nearest)}
        return (
            replace(by_words, matches=tuple(matches.values())),
            sorted(near.values(), key=lambda match: -match.score),
        )


async def match_in_time(
    memory: MemorySearch,
    query: str,
    where: MemoryFilter,
    limit: int,
    standing: Collection[str] | None = None,
) -> TimedMatches:
    """Return the turns of the time that a question names, by words, by meaning and by deeds.

    `standing` are the turns with standing instructions, if they are listed already.
    """
    spans = find_spans(query, now()) or await _find_around_event(memory, query, where, standing)
    narrower = [one for one in (_narrow(where, span) for span in spans) if one is not None]
    found, done = await gather_or_cancel(
        gather_or_cancel(*(memory.match(query, one, limit) for one in narrower)),
        gather_or_cancel(*(memory.find_said_and_done(query, one) for one in narrower)),
    )
    near = [match for _, some in found for match in some]
    near += (match for one in done for match in one.nearest)
    signals = reduce(TurnSignals.join, (one.signals for one in done), TurnSignals())
    return TimedMatches([by_words for by_words, _ in found], near, signals)


async def _find_around_event(
    memory: MemorySearch, query: str, where: MemoryFilter, standing: Collection[str] | None
) -> list[TimeSpan]:
    """Return the time before or after an event that a question names: when it was spoken of."""
    if (event := find_event(query)) is None:
        return []
    return [
        TimeSpan(None, hit.timestamp) if event.is_before else TimeSpan(hit.timestamp, None)
        for hit in await search_conversation_history(
            memory, event.text, where, max_results=1, levels=(0,), standing=standing
        )
    ]


def _narrow(where: MemoryFilter, span: TimeSpan) -> MemoryFilter | None:
    """Return the filter with this time as well; None if nothing can pass."""
    since = _pick(max, where.since, span.since)
    until = _pick(min, where.until, span.until)
    if since is not None and until is not None and since > until:
        return None
    return replace(where, since=since, until=until)


def _pick(
    choose: Callable[[datetime, datetime], datetime], one: datetime | None, other: datetime | None
) -> datetime | None:
    return choose(one, other) if one is not None and other is not None else one or other
