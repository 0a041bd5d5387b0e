"""search_memory: what was said before, in this session or any other of the project."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pydantic import Field

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import HistoryHit, NoteHit, TurnHit
from ragforge.domain.instants import now
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.text import Json
from ragforge.llm.calls import Tool
from ragforge.memory.code.stale import StaleCode, find_all_stale
from ragforge.memory.notes import Notebook
from ragforge.memory.search.combined import search_memory
from ragforge.memory.search.turns import MemorySearch
from ragforge.records import dataclass
from ragforge.search.small_talk import asks_for_order
from ragforge.tools.tool import Arguments, as_tool

CHARS = 600
MAX_AGED = 10


class MemoryArguments(Arguments):
    """What search_memory is called with."""

    query: str = Field(min_length=1, max_length=10_000, description="What it was about")
    days: int | None = Field(None, ge=1, le=36_500, description="Only the last so many days")
    limit: int = Field(8, ge=1, le=50, description="How many turns, summaries and notes")


@dataclass(frozen=True, slots=True)
class FoundMemories:
    """Turns, summaries and notes, the best first, or in order of time if that is asked for."""

    hits: tuple[HistoryHit, ...]
    ages: tuple[Sequence[StaleCode], ...]  # of each hit: what became of the code that it is about

    def to_json(self) -> Json:
        return [_format(hit, aged) for hit, aged in zip(self.hits, self.ages, strict=True)]


def make_memory_tool(recall: MemorySearch, notebook: Notebook, project: ProjectPlace) -> Tool:
    """Return search_memory for a model; it sees this project alone."""

    async def call(given: MemoryArguments) -> FoundMemories:
        since = None if given.days is None else now() - timedelta(days=given.days)
        where = MemoryFilter(project_ids=project.ids, since=since)
        hits = await search_memory(recall, notebook, given.query, where, max_results=given.limit)
        if asks_for_order(given.query):
            hits.sort(key=lambda hit: hit.timestamp)
        said = [hit for hit in hits if not isinstance(hit, NoteHit)]
        ages = iter(await find_all_stale(notebook.store, project, said))
        aged = [[] if isinstance(hit, NoteHit) else next(ages) for hit in hits]
        return FoundMemories(tuple(hits), tuple(aged))

    return as_tool("search_memory", MemoryArguments, call)


def _format(hit: HistoryHit, aged: Sequence[StaleCode]) -> Json:
    facts: dict[str, Json] = {
        "type": hit.type,
        "when": hit.timestamp.isoformat(timespec="minutes"),
        "session": hit.conversation_id[:8],
        "score": round(hit.relevance, 3),
    }
    if aged:
        facts["code_since"] = [str(one) for one in aged[:MAX_AGED]]
        if len(aged) > MAX_AGED:
            facts["code_since"].append(f"… and {len(aged) - MAX_AGED} more")
    if isinstance(hit, TurnHit):
        turn = hit.turn
        said = {"question": turn.user.content[:CHARS], "answer": turn.answer[:CHARS]}
        return {"id": turn.uuid, **facts, **said}
    if isinstance(hit, NoteHit):
        note = hit.note
        return {"id": note.uuid, **facts, "text": note.text[:CHARS], "tags": list(note.tags)}
    summary = hit.summary
    return {
        "id": summary.uuid,
        **facts,
        "turns": list(hit.turn_range),
        "summary": summary.conversation_summary[:CHARS],
        "findings": list(summary.key_findings),
        "files": list(summary.files_mentioned),
    }
