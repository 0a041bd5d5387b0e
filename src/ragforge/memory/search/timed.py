"""Timed: the turns of the time that a question names, which count more.

Filters come before the best matches: the turns of a week of March are found among all those of the
store, however well others fit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce

from ragforge.concurrency import gather_or_cancel
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import Match, WordMatches
from ragforge.domain.instants import now
from ragforge.memory.search.turns import MemorySearch
from ragforge.records import dataclass
from ragforge.search.times import TimeSpan, find_event, find_spans
from ragforge.search.turn_rank import TurnSignals


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
    spans = find_spans(query, now()) or await _find_beside_event(memory, query, where, standing)
    narrower = [one for one in (_narrow(where, span) for span in spans) if one is not None]
    found, done = await gather_or_cancel(
        gather_or_cancel(*(memory.match(query, one, limit) for one in narrower)),
        gather_or_cancel(*(memory.find_said_and_done(query, one) for one in narrower)),
    )
    near = [match for _, some in found for match in some]
    near += (match for one in done for match in one.nearest)
    signals = reduce(TurnSignals.join, (one.signals for one in done), TurnSignals())
    return TimedMatches([by_words for by_words, _ in found], near, signals)


async def _find_beside_event(
    memory: MemorySearch, query: str, where: MemoryFilter, standing: Collection[str] | None
) -> list[TimeSpan]:
    """Return the time before or after an event that a question names: when it was spoken of."""
    if (event := find_event(query)) is None:
        return []
    return [
        TimeSpan(None, hit.timestamp) if event.is_before else TimeSpan(hit.timestamp, None)
        for hit in await memory.search_turns(event.text, where, 1, standing=standing)
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
