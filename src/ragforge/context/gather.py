"""Gather: code and turns that bear on a question, and the latest turns, within a budget."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ragforge.brain.find import CodeHit
from ragforge.brain.project import Brain
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.turns import Turn, messages_to_turns
from ragforge.errors import StoreError
from ragforge.memory.recall import Recall, TurnHit

FOUND_LIMIT = 10
CODE_LIMIT = 20
RECENT_TURNS = 20
"""More are never shown raw, however short they are."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many characters each part of the context may take."""

    recent_turns: int
    found_turns: int
    code: int


@dataclass(frozen=True, slots=True)
class Context:
    """What is known that bears on a question."""

    recent: tuple[Turn, ...]  # oldest first
    found: tuple[TurnHit, ...]  # best first
    code: tuple[CodeHit, ...] = ()  # best first


async def gather(
    recall: Recall,
    brain: Brain,
    conversation_id: str,
    turn_id: str,
    question: str,
    budget: Budget,
) -> Context:
    """Search the memory and the code of a project; the turn being asked is no part of it.

    Code that cannot be searched leaves the memory, which must not fail with it.
    """
    store = recall.store
    conversation = await store.get(conversation_id)
    where = MemoryFilter(project_path=conversation.project_path)
    recent, found, code = await asyncio.gather(
        store.messages(conversation_id, first_turn=conversation.turn_count - RECENT_TURNS),
        recall.turns(question, where, FOUND_LIMIT, without=[turn_id]),
        _code(brain, question),
    )
    earlier = [turn for turn in messages_to_turns(recent) if turn.uuid != turn_id]
    return Context(
        recent=tuple(newest_within(earlier, budget.recent_turns)),
        found=tuple(best_within(found, budget.found_turns)),
        code=tuple(code_within(code, budget.code)),
    )


async def _code(brain: Brain, question: str) -> list[CodeHit]:
    try:
        return await brain.search(question, CODE_LIMIT) if await brain.is_known() else []
    except StoreError:
        return []


def newest_within(turns: list[Turn], chars: int) -> list[Turn]:
    """Return the newest turns that fit, oldest of them first."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        chars -= turn.char_count
        if chars < 0:
            break
        kept.append(turn)
    return kept[::-1]


def code_within(hits: list[CodeHit], chars: int) -> list[CodeHit]:
    """Return the hits whose sources fit, in their order; one that is too large makes way."""
    kept = []
    for hit in hits:
        if len(hit.scope.source) <= chars:
            kept.append(hit)
            chars -= len(hit.scope.source)
    return kept


def best_within(hits: list[TurnHit], chars: int) -> list[TurnHit]:
    """Return the hits that fit, in their order; one that is too large makes way."""
    kept = []
    for hit in hits:
        if hit.turn.char_count <= chars:
            kept.append(hit)
            chars -= hit.turn.char_count
    return kept
