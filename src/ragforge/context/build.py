"""Build: everything that bears on a message, within the budget, with the account of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragforge.brain.find import CodeHit
from ragforge.brain.project import Brain
from ragforge.context import select
from ragforge.context.enrich import enriched
from ragforge.context.initial import InitialContext
from ragforge.context.merge import fused, merged
from ragforge.context.pieces import Piece
from ragforge.context.receipt import Receipt, Search
from ragforge.context.select import Budget, Material, Selection
from ragforge.context.timed import timed
from ragforge.domain.conversations import Conversation, MemoryFilter
from ragforge.domain.hits import MemoryHit
from ragforge.domain.summaries import Summary
from ragforge.domain.turns import Turn
from ragforge.memory.code.age import Aged, ages_of
from ragforge.memory.find import search_conversation_history
from ragforge.memory.history import History
from ragforge.memory.recall import Recall
from ragforge.ports.store import Store

HISTORY_HITS = 20
SEMANTIC_CONFIDENCE = 0.9


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long each search may take, in seconds."""

    code: float = 5.0
    history: float = 5.0
    initial: float = 10.0


@dataclass(frozen=True, slots=True)
class EnrichedContext:
    """What is known that bears on a message, in the order in which a model gets to see it."""

    last_user_queries: tuple[str, ...]
    code: tuple[Piece, ...]
    recent_turns: tuple[Turn, ...]
    history: tuple[MemoryHit, ...]
    level1_summaries_not_summarized: tuple[Summary, ...]
    found: tuple[MemoryHit, ...]  # all memories that bear on it, also those that are shown raw
    receipt: Receipt
    text: str


@dataclass(frozen=True, slots=True)
class ContextBuilder:
    """Builds contexts for the conversations of one project."""

    store: Store
    recall: Recall
    brain: Brain
    initial: InitialContext
    budget: Budget
    deadlines: Deadlines
    code_limit: int
    subdirectory_only: bool

    async def build_enriched_context(
        self, conversation: Conversation, message: str, turn_id: str | None = None
    ) -> EnrichedContext:
        """Return the context of a message; the turn that it opens is no part of it.

        All searches run at once. One that fails or is late leaves the others, and is named
        in the receipt.
        """
        without = [turn_id] if turn_id else []
        cwd = Path(conversation.cwd)
        longest = self.deadlines.history
        # What takes longest comes first: a store's readers are served in turn.
        initial, semantic, history, recent, short_term = await asyncio.gather(
            timed(self._initial(message), self.deadlines.initial),
            timed(self._semantic(message, cwd), self.deadlines.code),
            timed(self._history(conversation, message, without), longest),
            timed(self._recent(conversation, without), longest),
            timed(self._short_term(conversation), longest),
        )
        from_files, of_files = initial.found or ([], [])
        material = Material(
            conversation_id=conversation.uuid,
            recent=recent.found or [],
            history=history.found or [],
            short_term=short_term.found or [],
            code=fused(semantic.found or [], from_files),
        )
        searches = [
            recent.search("recent turns", len(material.recent)),
            history.search("memory by words and meaning", len(material.history)),
            semantic.search("code by meaning", len(semantic.found or [])),
            *(of_files or [initial.search("initial context", 0)]),
        ]
        return _assembled(material, select.within(material, self.budget), searches)

    async def _recent(self, conversation: Conversation, without: Sequence[str]) -> list[Turn]:
        if not conversation.message_count:  # it may not be stored at all
            return []
        past = History(self.store)
        return await past.get_recent_turns(conversation.uuid, self.budget.raw, without)

    async def _short_term(self, conversation: Conversation) -> list[Summary]:
        if not conversation.message_count:
            return []
        return await History(self.store).get_level1_summaries_not_summarized(conversation.uuid)

    async def _history(
        self, conversation: Conversation, message: str, without: Sequence[str]
    ) -> list[tuple[MemoryHit, list[Aged]]]:
        where = MemoryFilter(project_path=conversation.project_path)
        hits = await search_conversation_history(
            self.recall, message, where, max_results=HISTORY_HITS + len(without)
        )
        hits = [hit for hit in hits if hit.type == "summary" or hit.turn.uuid not in without]
        ages = await ages_of(self.store, conversation.project_path, hits)
        return list(zip(hits, ages, strict=True))

    async def _semantic(self, message: str, cwd: Path) -> list[Piece]:
        if not await self.brain.is_known():
            return []
        hits = await self.brain.search_code_semantic(
            message,
            cwd,
            initial_limit=self.code_limit,
            subdirectory_only=self.subdirectory_only,
        )
        return [_piece(hit) for hit in hits]

    async def _initial(self, message: str) -> tuple[list[Piece], list[Search]]:
        spots, searches = await self.initial.search(message)
        if not spots:
            return [], searches
        known = await self.brain.is_known() and await self.brain.is_settled()
        code = self.store.code if known else None
        pieces = await enriched(spots, code, self.brain.project_id, self.brain.root)
        return select.best_pieces(merged(pieces), self.budget.code // 2), searches


def format_context_for_agent(context: EnrichedContext) -> str:
    """Return the context as the text that a model gets to see; empty if nothing is known."""
    return context.text


def _piece(hit: CodeHit) -> Piece:
    scope = hit.scope
    return Piece(
        file=scope.file,
        start_line=scope.start_line,
        end_line=scope.end_line,
        name=scope.qualified_name,
        text=scope.source,
        score=hit.score,
        confidence=SEMANTIC_CONFIDENCE,
        found_by=hit.signals,
        is_scope=True,
    )


def _assembled(
    material: Material, selection: Selection, searches: Sequence[Search]
) -> EnrichedContext:
    receipt = Receipt(
        max_chars=selection.max_chars,
        chars=len(selection.text),
        items=tuple(selection.items),
        left_out=tuple(selection.left_out),
        searches=tuple(searches),
    )
    return EnrichedContext(
        last_user_queries=tuple(turn.user.content for turn in selection.queries),
        code=tuple(selection.code),
        recent_turns=tuple(selection.recent),
        history=tuple(selection.history),
        level1_summaries_not_summarized=tuple(selection.short_term),
        found=tuple(hit for hit, _ in material.history),
        receipt=receipt,
        text=selection.text,
    )
