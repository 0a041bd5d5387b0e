"""Recall: find past turns that bear on a question, by words and by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import Match
from ragforge.domain.turns import Turn, messages_to_turns
from ragforge.errors import ModelError
from ragforge.ports.conversations import ConversationStore
from ragforge.ports.embedder import Embedder
from ragforge.search.fuse import convex

TURN_CONFIDENCE = 1.0
"""A turn is what was really said; summaries are trusted less."""
CANDIDATES = 5
"""How many times the wanted number each search gives, before they are fused."""
MEANING_WEIGHT = 0.3
"""A static model is weaker than words: it may reorder what they found, not overrule it."""


@dataclass(frozen=True, slots=True)
class TurnHit:
    """A past turn that was found, and how."""

    turn: Turn
    conversation_id: str
    score: float  # 0..1, relative to the best of this search
    confidence: float
    found_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """Finds past turns in one store with one model of meaning, or with words alone."""

    store: ConversationStore
    embedder: Embedder | None

    async def turns(
        self, query: str, where: MemoryFilter, limit: int, without: Collection[str] = ()
    ) -> list[TurnHit]:
        """Return the turns that bear on the query, best first, without some of them."""
        wanted = limit * CANDIDATES + len(without)
        by_words, by_meaning = await asyncio.gather(
            self.store.turns_by_words(query, where, wanted),
            self._by_meaning(query, where, wanted),
        )
        fused = convex(_outside(by_words, without), _outside(by_meaning, without), MEANING_WEIGHT)
        ids = [item.id for item in fused[:limit]]
        turns = await self.store.turns(ids)
        conversations = await self.store.conversations_of(ids)
        return [
            TurnHit(
                turn=messages_to_turns(turns[item.id])[0],
                conversation_id=conversations[item.id],
                score=item.score,
                confidence=TURN_CONFIDENCE,
                found_by=item.found_by,
            )
            for item in fused[:limit]
            if item.id in turns  # it may have been deleted since
        ]

    async def _by_meaning(self, query: str, where: MemoryFilter, wanted: int) -> list[Match]:
        if self.embedder is None:
            return []
        try:
            vector = await self.embedder.embed_query(query)
        except ModelError:
            return []  # words alone are better than nothing
        if vector is None:
            return []
        least = self.embedder.history_threshold
        return await self.store.turns_by_vector(vector, where, wanted, least)


def _outside(matches: Sequence[Match], without: Collection[str]) -> list[Match]:
    return [match for match in matches if match.id not in without]
