"""Turns: search past turns by words and by meaning."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import TURN_CONFIDENCE, Match, TurnHit, WordMatches
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.memory.embed import embed_query
from ragforge.ports.conversations import ConversationStore
from ragforge.ports.embedder import Embedder
from ragforge.ports.summaries import SummaryStore
from ragforge.search.fuse import list_signals, mix_scores, scale_above
from ragforge.search.neighbours import REACH, merge_groups, rank_turns
from ragforge.search.tokenise import WORDS
from ragforge.search.translate import expand_query

CANDIDATES = 40
"""The fewest turns that each search returns before the results are mixed."""
CANDIDATES_A_HIT = 3
MOST_CANDIDATES = 80
"""The limit for many hits: the neighbours of candidates become hits as well."""
NEAREST = 300
"""How many turns a search by meaning returns. Turns found by words should be among them."""
READ_TOGETHER = 50
WORD_CHARS = 6
COUNTED_CHARS = 1_000
"""A longer turn counts as so many characters towards the limit."""


_SIGNALS = {
    (has_words, is_near): list_signals(
        words=has_words is True, neighbours=has_words is False, meaning=is_near
    )
    for has_words in (True, False, None)
    for is_near in (True, False)
}
"""The searches that found a turn: whether it has words of the query, if its neighbours or it do,
and whether it is near in meaning. Written down once, since a search has hundreds of turns."""


class TurnCandidate(NamedTuple):
    """A turn that was found, before it is read."""

    id: str
    score: float  # 0..1
    found_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemorySearch:
    """Searches the memory of one store with one embedding model, or by words alone."""

    conversations: ConversationStore
    embedder: Embedder | None
    summaries: SummaryStore

    async def search_turns(
        self, query: str, where: MemoryFilter, limit: int, without: Collection[str] = ()
    ) -> list[TurnHit]:
        """Return the turns that are relevant to the query, best first, except those `without`."""
        by_words, nearest = await self.match(query, where, limit)
        near = self.scale_nearest(nearest, limit)
        found = mix_turns(by_words, near, limit, self.meaning_weight, without=without)
        return await self.read_turns(found)

    async def match(
        self, query: str, where: MemoryFilter, limit: int, semantic: bool = True
    ) -> tuple[WordMatches, list[Match]]:
        """Return the turns that contain the query's words, or their English, with neighbours.

        And, if `semantic`, those that are nearest in meaning, best first.
        """
        wording = expand_query(query, WORDS)
        wanted = count_candidates(limit)
        vector = await embed_query(self.embedder, query) if semantic else None
        found, near = await self.conversations.match_turns(
            wording.text, where, wanted, REACH, vector, max(NEAREST, wanted), self.threshold
        )
        return merge_groups(found, wording.groups) if wording.groups else found, near

    def scale_nearest(self, nearest: Sequence[Match], limit: int) -> dict[str, float]:
        """Return the scores of the nearest turns, scaled to 0..1."""
        return scale_above(nearest, self.threshold, max(NEAREST, count_candidates(limit)))

    @property
    def threshold(self) -> float:
        """The score below which a vector is not relevant to a query."""
        return 1.0 if self.embedder is None else self.embedder.history_threshold

    @property
    def meaning_weight(self) -> float:
        """How much meaning counts beside words, 0..1."""
        return 0.0 if self.embedder is None else self.embedder.weights.memory

    async def read_turns(
        self,
        found: Sequence[TurnCandidate],
        max_chars: int | None = None,
        usual_chars: float = COUNTED_CHARS,
    ) -> list[TurnHit]:
        """Return the turns that were found; those deleted since are left out.

        With `max_chars`, reading stops once the turns have so many characters together. If
        `usual_chars`, their usual length, is about right, one page is enough.
        """
        turns = await self._read_until([item.id for item in found], max_chars, usual_chars)
        hits = []
        for item in found:
            if (read := turns.get(item.id)) is not None:
                owner, turn = read
                hits.append(TurnHit(turn, owner, item.score, TURN_CONFIDENCE, item.found_by))
        return hits

    async def _read_until(
        self, ids: Sequence[str], max_chars: int | None, usual: float
    ) -> dict[str, tuple[str, Turn]]:
        """Return turns by id with their conversations' ids, page by page until there are enough.

        What was read shows how long they are, and so how large the next page must be.
        """
        turns: dict[str, tuple[str, Turn]] = {}
        start = counted = 0
        while start < len(ids) and (max_chars is None or counted < max_chars or not start):
            page = len(ids)
            if max_chars is not None:
                page = max(READ_TOGETHER, math.ceil((max_chars - counted) / usual))
            read = await self.conversations.owned_turns(ids[start : start + page])
            for found, (owner, messages) in read.items():
                turn = group_into_turns(messages)[0]
                turns[found] = owner, turn
                counted += min(turn.char_count, COUNTED_CHARS)
            start += page
            usual = max(counted / start, 1.0)
        return turns


def mix_turns(
    by_words: WordMatches,
    near: Mapping[str, float],
    limit: int,
    meaning_weight: float,
    min_score: float = 0.0,
    without: Collection[str] = (),
) -> list[TurnCandidate]:
    """Return the turns found by words or by meaning, best first."""
    scores: dict[str, float] = {}
    has_words: dict[str, bool] = {}
    for id_, score, holds in rank_turns(by_words, without):
        scores[id_] = score
        has_words[id_] = holds
    mixed = mix_scores(scores, near, meaning_weight)
    best = islice((item for item in mixed.items() if item[0] not in without), limit)
    return [
        TurnCandidate(id_, score, _SIGNALS[has_words.get(id_), id_ in near])
        for id_, score in best
        if score >= min_score
    ]


def estimate_chars(found: WordMatches) -> float:
    """Return how many characters a turn like these usually counts, by its number of words."""
    if not found.matches:
        return COUNTED_CHARS
    words = sum(turn.length for turn in found.matches) / len(found.matches)
    return min(max(words, 1) * WORD_CHARS, COUNTED_CHARS)


def count_candidates(limit: int) -> int:
    """Return how many candidates each search should return for so many hits."""
    return max(CANDIDATES, min(limit * CANDIDATES_A_HIT, MOST_CANDIDATES), limit // 3)
