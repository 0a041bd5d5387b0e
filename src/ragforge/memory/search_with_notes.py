"""Search: all that is remembered in one ranking: turns, summaries and notes."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import HistoryHit, NoteHit
from ragforge.domain.notes import NoteFilter
from ragforge.memory.notes import Notebook
from ragforge.memory.recall import Recall
from ragforge.memory.search import search_conversation_history


async def search_memory(
    recall: Recall,
    notebook: Notebook,
    query: str,
    where: MemoryFilter,
    *,
    semantic: bool = True,
    max_results: int = 10,
    include_turns: bool = True,
    include_notes: bool | None = None,
    levels: Collection[int] = (0, 1, 2),
    min_score: float = 0.0,
) -> list[HistoryHit]:
    """Return turns, summaries of some levels and notes that bear on the query, the best first.

    As `search_conversation_history`; notes are there where turns are, unless `include_notes`
    says otherwise. Of one conversation, they are those that were made in it.
    """
    book = notebook if semantic else replace(notebook, embedder=None)
    filter_ = NoteFilter(
        where.project_path, where.conversation_id, since=where.since, until=where.until
    )
    with_notes = include_turns and 0 in levels if include_notes is None else include_notes
    said, notes = await asyncio.gather(
        search_conversation_history(
            recall,
            query,
            where,
            semantic=semantic,
            max_results=max_results,
            include_turns=include_turns,
            levels=levels,
            min_score=min_score,
        ),
        book.search(query, filter_, max_results) if with_notes else _none(),
    )
    hits: list[HistoryHit] = [*(note for note in notes if note.score >= min_score), *said]
    hits.sort(key=lambda hit: -hit.score * hit.confidence)
    return hits[:max_results]


async def _none() -> list[NoteHit]:
    return []
