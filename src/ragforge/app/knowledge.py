"""Knowledge: what a program asks of a project's memory and code, as a half of its agent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.app.application import App
from ragforge.app.conversation import Conversation
from ragforge.app.models import needed
from ragforge.brain.ingestion.report import IngestionReport, OnStep
from ragforge.brain.search.code import CodeHit
from ragforge.domain.hits import HistoryHit
from ragforge.domain.instants import now
from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.summaries import Level, Summary, SummaryFilter

if TYPE_CHECKING:
    from ragforge.llm.executor import StructuredLLMExecutor

LISTED = 50
CODE_HITS = 10
SEMANTIC_LIMIT = 100


class Knowledge:
    """The memory and the code of the project in which an agent is open."""

    def __init__(self, app: App) -> None:
        self.app = app

    @property
    def executor(self) -> StructuredLLMExecutor:
        """What does the same task for many items, with the chat model of the settings.

        Raises ModelMissing if no chat model is configured.
        """
        from ragforge.llm.executor import StructuredLLMExecutor

        return StructuredLLMExecutor(needed(self.app.chat))

    async def search_conversation_history(
        self,
        query: str,
        *,
        semantic: bool = True,
        max_results: int = 10,
        include_turns: bool = True,
        include_notes: bool | None = None,
        levels: Collection[int] = (0, 1, 2),
        min_score: float = 0.0,
        since: datetime | None = None,
        until: datetime | None = None,
        conversation: Conversation | None = None,
        everywhere: bool = False,
    ) -> list[HistoryHit]:
        """Return turns, summaries of some levels and notes that bear on the query, best first.

        Level 0 are turns, 1 and 2 summaries. They are of one conversation, of this project, or
        of all. Notes are there where turns are, unless `include_notes` says otherwise; without
        `semantic` words alone decide.
        """
        return await self.app.search_conversation_history(
            query,
            semantic=semantic,
            max_results=max_results,
            include_turns=include_turns,
            include_notes=include_notes,
            levels=levels,
            min_score=min_score,
            since=since,
            until=until,
            session=None if conversation is None else conversation.id,
            everywhere=everywhere,
        )

    async def get_summaries_by_date_range(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        level: Level | None = None,
        conversation: Conversation | None = None,
        everywhere: bool = False,
    ) -> list[Summary]:
        """Return the summaries made between two moments: of one conversation, of this project,
        or of all.
        """
        one = None if conversation is None else conversation.id
        project = None if everywhere or one else str(self.app.project_path)
        where = SummaryFilter(one, project, level, since, until)
        return await self.app.store.summaries.find(where)

    async def get_recent_summaries(
        self,
        days: float = 7,
        *,
        level: Level | None = None,
        conversation: Conversation | None = None,
        everywhere: bool = False,
    ) -> list[Summary]:
        """Return the summaries of the last days, as `get_summaries_by_date_range` does."""
        return await self.get_summaries_by_date_range(
            now() - timedelta(days=days),
            level=level,
            conversation=conversation,
            everywhere=everywhere,
        )

    async def trim_summaries_by_date(self, before: datetime, level: Level | None = None) -> int:
        """Delete the summaries of all projects made before a moment; return how many went."""
        return await self.app.history.trim_summaries_by_date(before, level)

    async def remember(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        supersedes: str | None = None,
        conversation: Conversation | None = None,
    ) -> Note:
        """Keep a note of this project: an insight, a decision, a rule. Secrets are redacted.

        `supersedes` is the id of a note in whose place this one is found from now on; that one
        is kept. `conversation` is the one it came of.
        Raises InputError if the text is empty or too long, NoteNotFound, AmbiguousId.
        """
        facts = None if conversation is None else conversation.facts
        return await self.app.notebook.remember(
            text,
            str(self.app.project_path) if facts is None else facts.project_path,
            tags=tags,
            supersedes=supersedes,
            conversation_id=None if facts is None else facts.uuid,
        )

    async def notes(
        self,
        query: str | None = None,
        *,
        tags: Sequence[str] = (),
        limit: int = LISTED,
        everywhere: bool = False,
        with_superseded: bool = False,
    ) -> list[Note]:
        """Return notes of this project, or of all: the newest first, or those that bear on a
        query, the best first.
        """
        project = None if everywhere else str(self.app.project_path)
        where = NoteFilter(project, tags=tuple(tags), with_superseded=with_superseded)
        if query is None:
            return await self.app.store.notes.find(where, limit)
        return [hit.note for hit in await self.app.notebook.search(query, where, limit)]

    async def forget_note(self, note_id: str) -> Note:
        """Delete a note, given by (the start of) its id; one that it superseded is found again.

        Raises NoteNotFound, AmbiguousId.
        """
        return await self.app.notebook.forget(note_id)

    async def ingest(self, on_step: OnStep = lambda _: None) -> IngestionReport:
        """Bring what is known of the project's code up to date, and return what was done.

        Raises OSError if the project cannot be listed, ModelError if embedding fails.
        """
        report, _ = await self.app.brain.ingest(on_step)
        return report

    async def search_code(
        self, query: str, limit: int = CODE_HITS, under: str | None = None
    ) -> list[CodeHit]:
        """Return the code that bears on a query, best first; `under` is a path in the project.

        A project that is not known yet is ingested first.
        """
        return await self.app.search_code(query, limit, under)

    async def search_code_semantic(
        self,
        query: str,
        cwd: str | Path | None = None,
        *,
        initial_limit: int = SEMANTIC_LIMIT,
        max_chars: int | None = None,
        min_score: float = 0.0,
    ) -> list[CodeHit]:
        """Return code of the subtree of a directory within a budget of characters, best first.

        The directory is the agent's if none is given. Nothing while the project is being
        ingested or embedded, or was never ingested.
        """
        return await self.app.brain.search_code_semantic(
            query,
            self.app.cwd if cwd is None else Path(cwd).expanduser(),
            initial_limit=initial_limit,
            max_chars=max_chars,
            min_score=min_score,
            subdirectory_only=self.app.settings.agent.memory.subdirectory_only,
        )
