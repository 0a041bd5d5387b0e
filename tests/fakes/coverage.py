"""What a summary covers, as tests ask for it."""

from __future__ import annotations

from ragforge.domain.schema import SUMMARY
from ragforge.ports.store import Store


async def list_covered(store: Store, summary_id: str) -> list[int]:
    """Return the turns that an L1 covers. Raises SummaryNotFound."""
    summary = await store.records.get(SUMMARY, summary_id)
    turns = await store.timeline.coverage(summary.conversation_id, 0)
    return [turn.turn_index for turn in turns if turn.covered_by == summary_id]
