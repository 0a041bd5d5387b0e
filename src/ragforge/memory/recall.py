"""Recall: find past turns that bear on a question, by words and by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import TURN_CONFIDENCE, Match, TurnHit, WordMatches
from ragforge.domain.turns import group_into_turns
from ragforge.domain.vectors import Vector
from ragforge.errors import ModelError
from ragforge.ports.conversations import ConversationStore
from ragforge.ports.embedder import Embedder
from ragforge.ports.summaries import SummaryStore
from ragforge.search.fuse import mix_scores, scale_above
from ragforge.search.neighbours import REACH, merge_groups, rank_turns
from ragforge.search.tokenise import WORDS
from ragforge.search.translate import expand_query

__all__ = ["Recall", "TurnCandidate", "TurnHit", "count_candidates", "list_signals", "mix_turns"]

CANDIDATES = 40
"""How many turns each search gives at least, before they are fused."""
CANDIDATES_A_HIT = 3
MOST_CANDIDATES = 120
"""Who wants many hits gets no more: the neighbours of candidates are hits as well."""
NEAREST = 300
"""How many are asked for by meaning: what words found should be among them."""
READ_TOGETHER = 50
COUNTED_CHARS = 1_000
"""Of a longer turn no more counts towards the characters that are wanted."""


@dataclass(frozen=True, slots=True)
class TurnCandidate:
    """Something that was found, before it is read."""

    id: str
    score: float  # 0..1
    found_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """Finds past turns in one store with one model of meaning, or with words alone."""

    store: ConversationStore
    embedder: Embedder | None
    summaries: SummaryStore

    async def turns(
        self, query: str, where: MemoryFilter, limit: int, without: Collection[str] = ()
    ) -> list[TurnHit]:
        """Return the turns that bear on the query, best first, without some of them."""
        by_words, near = await asyncio.gather(
            self.words(query, where, limit), self.near(query, where, limit)
        )
        found = mix_turns(by_words, near, limit, self.meaning_weight, without=without)
        return await self.read(found)

    async def meaning(self, query: str) -> Vector | None:
        """Return the vector of a query, or None: words alone are better than nothing."""
        try:
            return None if self.embedder is None else await self.embedder.embed_query(query)
        except ModelError:
            return None

    async def words(self, query: str, where: MemoryFilter, limit: int) -> WordMatches:
        """Return the turns that hold the query's words or their English, with their neighbours."""
        asked = expand_query(query, WORDS)
        found = await self.store.match_words(asked.text, where, count_candidates(limit), REACH)
        return merge_groups(found, asked.groups) if asked.groups else found

    async def near(self, query: str, where: MemoryFilter, limit: int) -> dict[str, float]:
        """Return the turns that mean what the query does, and how much they do, 0..1."""
        return self.shares(await self.nearest(query, where, limit), limit)

    async def nearest(self, query: str, where: MemoryFilter, limit: int) -> list[Match]:
        """Return the turns that mean what the query does, best first."""
        meaning = await self.meaning(query)
        if meaning is None:
            return []
        wanted = max(NEAREST, count_candidates(limit))
        return await self.store.turns_by_vector(meaning, where, wanted, self.least)

    def shares(self, nearest: Sequence[Match], limit: int) -> dict[str, float]:
        """Return how much the nearest turns mean what the query does, 0..1."""
        return scale_above(nearest, self.least, max(NEAREST, count_candidates(limit)))

    @property
    def least(self) -> float:
        """The score below which a vector has nothing to do with a query."""
        return 1.0 if self.embedder is None else self.embedder.history_threshold

    @property
    def meaning_weight(self) -> float:
        """How much meaning counts beside words, 0..1."""
        return 0.0 if self.embedder is None else self.embedder.weights.memory

    async def read(
        self, found: Sequence[TurnCandidate], max_chars: int | None = None
    ) -> list[TurnHit]:
        """Return the turns that were found; those that were deleted since are left out.

        No more are read once they have so many characters together.
        """
        hits: list[TurnHit] = []
        chars = 0
        step = len(found) if max_chars is None else READ_TOGETHER
        for start in range(0, len(found), max(step, 1)):
            some = await self._read(found[start : start + step])
            hits += some
            chars += sum(min(hit.turn.char_count, COUNTED_CHARS) for hit in some)
            if max_chars is not None and chars >= max_chars:
                break
        return hits

    async def _read(self, found: Sequence[TurnCandidate]) -> list[TurnHit]:
        ids = [item.id for item in found]
        turns, conversations = await asyncio.gather(
            self.store.turns(ids), self.store.conversations_of(ids)
        )
        return [
            TurnHit(
                turn=group_into_turns(turns[item.id])[0],
                conversation_id=conversations[item.id],
                score=item.score,
                confidence=TURN_CONFIDENCE,
                found_by=item.found_by,
            )
            for item in found
            if item.id in turns and item.id in conversations
        ]


def mix_turns(
    by_words: WordMatches,
    near: Mapping[str, float],
    limit: int,
    meaning_weight: float,
    min_score: float = 0.0,
    without: Collection[str] = (),
) -> list[TurnCandidate]:
    """Return the turns found by words or by meaning, best first."""
    told = {hit.id: hit for hit in rank_turns(by_words, without)}
    mixed = mix_scores({turn: hit.score for turn, hit in told.items()}, near, meaning_weight)
    best = [item for item in mixed.items() if item[0] not in without][:limit]
    return [
        TurnCandidate(
            turn,
            score,
            list_signals(
                words=turn in told and told[turn].itself,
                neighbours=turn in told and not told[turn].itself,
                meaning=turn in near,
            ),
        )
        for turn, score in best
        if score >= min_score
    ]


def count_candidates(limit: int) -> int:
    """Return how many hits each search should give for so many wanted."""
    return max(CANDIDATES, min(limit * CANDIDATES_A_HIT, MOST_CANDIDATES), limit // 2)


def list_signals(**found_by: bool) -> tuple[str, ...]:
    """Return the names of the searches that found something."""
    return tuple(name for name, is_true in found_by.items() if is_true)
