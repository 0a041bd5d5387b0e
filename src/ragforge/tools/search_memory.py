"""search_memory: what was said before, in this session or any other of the project."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from pydantic import Field

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import HistoryHit, NoteHit, TurnHit
from ragforge.domain.instants import now
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.text import Json
from ragforge.llm.calls import Tool
from ragforge.memory.code.about import ConversationAbout, TouchedCode, find_conversations_about
from ragforge.memory.code.changes import StaleCode, find_all_stale
from ragforge.memory.notes import Notebook
from ragforge.memory.search.combined import search_memory
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.small_talk import asks_for_order
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.git_history import GitHistory
from ragforge.tools.tool import Arguments, as_tool

CHARS = 600
MAX_AGED = 10


COMMITS = 5


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


class AboutArguments(Arguments):
    """What sessions_about is called with."""

    name: str = Field(
        min_length=1,
        max_length=1_000,
        description="Name of a function, class, …, or path of a file or directory",
    )
    limit: int = Field(10, ge=1, le=50, description="How many turns, the newest of each session")


@dataclass(frozen=True, slots=True)
class SessionsAbout:
    """Sessions with the turns in which they touched something."""

    found: tuple[ConversationAbout, ...]
    turn_ids: dict[tuple[str, int], str]
    limit: int

    def to_json(self) -> Json:
        left, sessions = self.limit, []
        for one in self.found:
            touched = [self._format_touched(code) for code in one.touched[:left]]
            left -= len(touched)
            if touched:
                about = one.conversation
                session: dict[str, Json] = {"session": about.uuid[:8], "title": about.title}
                sessions.append({**session, "touched": touched})
        every = sum(len(one.touched) for one in self.found)
        note = {} if every <= self.limit else {"note": f"{every - self.limit} more are not listed."}
        return {"sessions": sessions, **note}

    def _format_touched(self, code: TouchedCode) -> Json:
        touch, since = code.touch, code.since
        place: dict[str, Json] = {"turn": touch.first_turn}
        if touch.by_summary:
            place = {"turns": [touch.first_turn, touch.last_turn]}
        if (turn_id := self.turn_ids.get((touch.conversation_id, touch.first_turn))) is not None:
            place["id"] = turn_id
        commits = [
            f"{commit.id} {commit.when:%Y-%m-%d} {commit.author}: {commit.subject}"
            for commit in (since.commits or ())[:COMMITS]
        ]
        return {
            **place,
            "when": touch.when.isoformat(timespec="minutes"),
            "how": touch.how,
            "file": touch.file,
            "name": touch.name,
            "since": since.describe(touch),
            **({"commits": commits} if commits else {}),
        }


def make_sessions_about_tool(store: Store, project: ProjectPlace, runner: CommandRunner) -> Tool:
    """Return sessions_about for a model; it sees this project alone."""
    root = Path(project.path)

    async def call(given: AboutArguments) -> SessionsAbout:
        found = await find_conversations_about(
            store, given.name, root, project, log=GitHistory(runner)
        )
        turns = [
            (code.touch.conversation_id, code.touch.first_turn)
            for one in found
            for code in one.touched[: given.limit]
            if not code.touch.by_summary
        ]
        ids = {}
        for talk, turn in dict.fromkeys(turns[: given.limit]):
            for message in await store.timeline.messages(
                talk, turn, turn, limit=1, with_receipts=False
            ):
                ids[talk, turn] = message.uuid
        return SessionsAbout(tuple(found), ids, given.limit)

    return as_tool("sessions_about", AboutArguments, call)
