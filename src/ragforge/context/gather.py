"""Gather: the recent turns and the past ones that bear on a question, within a budget."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.turns import Turn, messages_to_turns
from ragforge.memory.recall import Recall, TurnHit

FOUND_LIMIT = 10
RECENT_TURNS = 20
"""More are never shown raw, however short they are."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many characters each part of the context may take."""

    recent_turns: int
    found_turns: int


@dataclass(frozen=True, slots=True)
class Context:
    """What is known that bears on a question."""

    recent: tuple[Turn, ...]  # oldest first
    found: tuple[TurnHit, ...]  # best first


async def gather(
    recall: Recall, conversation_id: str, turn_id: str, question: str, budget: Budget
) -> Context:
    """Search the memory of the question's project; the turn being asked is no part of it."""
    store = recall.store
    conversation = await store.get(conversation_id)
    where = MemoryFilter(project_path=conversation.project_path)
    recent, found = await asyncio.gather(
        store.messages(conversation_id, first_turn=conversation.turn_count - RECENT_TURNS),
        recall.turns(question, where, FOUND_LIMIT, without=[turn_id]),
    )
    earlier = [turn for turn in messages_to_turns(recent) if turn.uuid != turn_id]
    return Context(
        recent=tuple(newest_within(earlier, budget.recent_turns)),
        found=tuple(best_within(found, budget.found_turns)),
    )


def newest_within(turns: list[Turn], chars: int) -> list[Turn]:
    """Return the newest turns that fit, oldest of them first."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        chars -= turn.char_count
        if chars < 0:
            break
        kept.append(turn)
    return kept[::-1]


def best_within(hits: list[TurnHit], chars: int) -> list[TurnHit]:
    """Return the hits that fit, in their order; one that is too large makes way."""
    kept = []
    for hit in hits:
        if hit.turn.char_count <= chars:
            kept.append(hit)
            chars -= hit.turn.char_count
    return kept
