"""Build: everything that bears on a message, within the budget, with the account of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragforge.context import select
from ragforge.context.pieces import Piece
from ragforge.context.receipt import Receipt, Search
from ragforge.context.searches import Searches
from ragforge.context.select import Material, Selection
from ragforge.domain.conversations import Conversation
from ragforge.domain.hits import MemoryHit
from ragforge.domain.summaries import Summary
from ragforge.domain.turns import Turn


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

    searches: Searches

    async def build_enriched_context(
        self, conversation: Conversation, message: str, turn_id: str | None = None
    ) -> EnrichedContext:
        """Return the context of a message; the turn that it opens is no part of it.

        A search that failed or was late is named in the receipt.
        """
        without = [turn_id] if turn_id else []
        material, searches = await self.searches.all_at_once(conversation, message, without)
        return _assembled(material, select.within(material, self.searches.budget), searches)


def format_context_for_agent(context: EnrichedContext) -> str:
    """Return the context as the text that a model gets to see; empty if nothing is known."""
    return context.text


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
