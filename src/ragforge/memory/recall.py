"""Recall: find past turns that bear on a question."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.turns import Turn, messages_to_turns
from ragforge.ports.conversations import ConversationStore

TURN_CONFIDENCE = 1.0
"""A turn is what was really said; summaries are trusted less."""


@dataclass(frozen=True, slots=True)
class TurnHit:
    """A past turn that was found, and how."""

    turn: Turn
    conversation_id: str
    score: float  # 0..1, relative to the best of this search
    confidence: float
    found_by: tuple[str, ...]


async def recall(
    store: ConversationStore,
    query: str,
    where: MemoryFilter,
    limit: int,
    without: Collection[str] = (),
) -> list[TurnHit]:
    """Return the turns that share the query's words, best first, without some of them."""
    found = await store.turns_by_words(query, where, limit + len(without))
    matches = [match for match in found if match.id not in without][:limit]
    if not matches:
        return []
    ids = [match.id for match in matches]
    turns = await store.turns(ids)
    conversations = await store.conversations_of(ids)
    best = matches[0].score
    return [
        TurnHit(
            turn=messages_to_turns(turns[match.id])[0],
            conversation_id=conversations[match.id],
            score=match.score / best if best > 0 else 0.0,
            confidence=TURN_CONFIDENCE,
            found_by=("words",),
        )
        for match in matches
        if match.id in turns  # it may have been deleted since
    ]
