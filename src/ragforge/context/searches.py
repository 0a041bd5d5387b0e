"""Searches: all that is asked before an answer, each by itself or all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragforge.brain.project import Brain
from ragforge.context import select
from ragforge.context.enrich import enriched
from ragforge.context.initial import InitialContext
from ragforge.context.merge import fused, merged
from ragforge.context.pieces import Piece
from ragforge.context.receipt import Search
from ragforge.context.select import Budget, Material
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
class Searches:
    """Searches the memory and the code of one project."""

    store: Store
    recall: Recall
    brain: Brain
    initial: InitialContext
    budget: Budget
    deadlines: Deadlines
    code_limit: int
    subdirectory_only: bool

    async def all_at_once(
        self, conversation: Conversation, message: str, without: Sequence[str] = ()
    ) -> tuple[Material, list[Search]]:
        """Return what bears on a message, and how each search went; some turns are left out.

        One that fails or is late leaves the others.
        """
        cwd = Path(conversation.cwd)
        longest = self.deadlines.history
        # What takes longest comes first: a store's readers are served in turn.
        initial, semantic, history, recent, short_term = await asyncio.gather(
            timed(self.files(message), self.deadlines.initial),
            timed(self.code(message, cwd), self.deadlines.code),
            timed(self.memory(conversation, message, without), longest),
            timed(self.latest_turns(conversation, without), longest),
            timed(self.short_term(conversation), longest),
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
        return material, searches

    async def latest_turns(
        self, conversation: Conversation, without: Sequence[str] = ()
    ) -> list[Turn]:
        """Return the latest turns, as many as may be shown, or their questions; oldest first."""
        if not conversation.message_count:  # it may not be stored at all
            return []
        room = select.Room(self.budget)
        return await History(self.store).turns_while(conversation.uuid, room.takes, without)

    async def short_term(self, conversation: Conversation) -> list[Summary]:
        """Return the summaries of a conversation that no long-term one covers."""
        if not conversation.message_count:
            return []
        return await History(self.store).get_level1_summaries_not_summarized(conversation.uuid)

    async def memory(
        self, conversation: Conversation, message: str, without: Sequence[str] = ()
    ) -> list[tuple[MemoryHit, list[Aged]]]:
        """Return memories of the project by words and meaning, and what has changed since."""
        where = MemoryFilter(project_path=conversation.project_path)
        hits = await search_conversation_history(
            self.recall, message, where, max_results=HISTORY_HITS + len(without)
        )
        hits = [hit for hit in hits if hit.type == "summary" or hit.turn.uuid not in without]
        ages = await ages_of(self.store, conversation.project_path, hits)
        return list(zip(hits, ages, strict=True))

    async def code(self, message: str, cwd: Path) -> list[Piece]:
        """Return code by meaning, words and names."""
        hits = await self.brain.search_code_semantic(
            message,
            cwd,
            initial_limit=self.code_limit,
            subdirectory_only=self.subdirectory_only,
        )
        return [
            Piece.of_scope(hit.scope, hit.score, SEMANTIC_CONFIDENCE, hit.signals) for hit in hits
        ]

    async def files(self, message: str) -> tuple[list[Piece], list[Search]]:
        """Return what the initial-context agent finds in the files, and how it went."""
        spots, searches = await self.initial.search(message)
        if not spots:
            return [], searches
        code = self.store.code if await self.brain.is_settled() else None
        pieces = await enriched(spots, code, self.brain.project_id, self.brain.root)
        return select.best_pieces(merged(pieces), self.budget.code // 2), searches
