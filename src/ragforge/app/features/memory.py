"""Memory: search what was said and done, and look after its summaries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ragforge.app.features.sessions import HasId, Sessions
from ragforge.app.wiring.open_project import OpenProject
from ragforge.app.wiring.remaining_work import do_upkeep
from ragforge.domain.code import Touch
from ragforge.domain.conversations import (
    Conversation,
    ConversationFilter,
    MemoryFilter,
    name_other_agent,
)
from ragforge.domain.hits import HistoryHit
from ragforge.domain.instants import now
from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.schema import CONVERSATION, JOB, NOTE, SUMMARY, TURN
from ragforge.domain.summaries import Level, Summary, SummaryFilter
from ragforge.domain.turns import Turn, name_turn_model
from ragforge.domain.work import JobFilter
from ragforge.errors import ConversationNotFound, InputError
from ragforge.jobs.worker import POLL_SECONDS, Worker
from ragforge.memory.embed import embed_missing
from ragforge.memory.history import History, SessionDetail
from ragforge.memory.notes import Notebook
from ragforge.memory.search.turns import MemorySearch
from ragforge.memory.summaries.condense import SUMMARY_JOB, Condenser
from ragforge.ports.models import Embedder
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.memory.code.changes import StaleCode

__all__ = ["StaleCode"]

# For the doors, from the rooms below.

TOUCHES = 10_000
MAX_FORGOTTEN = 100_000
TOGETHER = 100


@dataclass(frozen=True, slots=True)
class ProjectMemory:
    """How much is remembered of a project."""

    sessions: int
    notes: int


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered of one project, and of all others in the same store."""

    sessions: Sessions
    recall: MemorySearch
    notebook: Notebook
    history: History
    condenser: Condenser

    async def search(
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
        conversation: str | HasId | None = None,
        everywhere: bool = False,
        project_ids: Sequence[str] = (),
    ) -> list[HistoryHit]:
        """Return turns, summaries and notes that are relevant to the query, the best first.

        Level 0 are turns, 1 and 2 summaries: `levels=[2]` returns only long-term summaries.
        They are of one conversation (or the start of its id), of this project, of the projects
        with the given ids, or of all.
        Notes are included where turns are, unless `include_notes` says otherwise. Without
        `semantic` only words count. Raises InputError if the conversation does not exist.
        """
        from ragforge.memory.search.combined import search_memory

        one = await self.sessions.resolve_id(conversation)
        return await search_memory(
            self.recall,
            self.notebook,
            query,
            MemoryFilter(one, project_ids or self._project(everywhere, one), since, until),
            semantic=semantic,
            max_results=max_results,
            include_turns=include_turns,
            include_notes=include_notes,
            levels=levels,
            min_score=min_score,
        )

    async def load(self, wanted: str) -> Turn | Summary | Note | SessionDetail:
        """Return what has an id in this project: a turn, a summary, a note, or a session, also by
        the start of its id. Raises InputError if there is none.
        """
        from ragforge.tools.memory_tools import read_memory

        sessions = self.sessions
        try:
            session = await sessions.load(wanted)
        except ConversationNotFound:
            try:
                return await read_memory(sessions.store, sessions.project, wanted.strip())
            except InputError as error:
                raise InputError(f"Nothing in this project has the id {wanted!r}.") from error
        if session.project_id not in sessions.project.ids:
            raise InputError(f"{session.uuid} belongs to another project: {session.project_path}")
        return await sessions.load_detail(session.uuid)

    async def find_changed_code(self, hits: Sequence[HistoryHit]) -> list[list[StaleCode]]:
        """Return for each hit the code it is about that has changed since."""
        from ragforge.memory.code.changes import find_all_stale

        store = self.sessions.store
        found: list[list[StaleCode]] = []
        for hit in hits:
            if hit.type == "note":
                found.append([])
                continue
            conversation = await store.records.get(CONVERSATION, hit.conversation_id)
            place = self.sessions.project.look_from(
                conversation.project_id, conversation.project_path
            )
            found += await find_all_stale(store, place, [hit])
        return found

    async def find_changed_in_turns(
        self, session: Conversation, turns: Sequence[Turn]
    ) -> list[list[StaleCode]]:
        """Return for each turn of a session the code it touched that has changed since."""
        from ragforge.memory.code.changes import find_stale_of

        place = self.sessions.project.look_from(session.project_id, session.project_path)
        said = [[message.uuid for message in (turn.user, *turn.replies)] for turn in turns]
        return await find_stale_of(self.sessions.store, place, said)

    async def find_touches(self, name: str) -> list[Touch]:
        """Return where sessions of any project edited, read or named a file or something in it.

        Raises InputError if the name may mean several files.
        """
        from ragforge.memory.code.about import resolve_subject

        store, project = self.sessions.store, self.sessions.project
        subject = await resolve_subject(store, name, self.sessions.cwd, project)
        return await store.timeline.touches(files=subject.files, limit=TOUCHES)

    async def count_project(self, project_ids: Sequence[str]) -> ProjectMemory:
        """Return how much `forget_project` would delete."""
        where = ConversationFilter(project_ids=project_ids, own=True)
        sessions = await self.sessions.store.records.find(CONVERSATION, where, MAX_FORGOTTEN)
        notes = await self._find_own_notes(project_ids)
        return ProjectMemory(len(sessions), len(notes))

    async def forget_project(self, project_ids: Sequence[str]) -> ProjectMemory:
        """Delete the user's sessions and notes of a project permanently; return how many."""
        records, sessions = self.sessions.store.records, 0
        where = ConversationFilter(project_ids=project_ids, own=True)
        while found := await records.find(CONVERSATION, where, TOGETHER):
            for session in found:
                await records.delete(CONVERSATION, session.uuid)
            await self.sessions.forget_originals([session.uuid for session in found])
            sessions += len(found)
        notes = await self._find_own_notes(project_ids)
        for note in notes:
            await records.delete(NOTE, note.uuid)
        return ProjectMemory(sessions, len(notes))

    async def _find_own_notes(self, project_ids: Sequence[str]) -> list[Note]:
        where = NoteFilter(project_ids, with_superseded=True)
        found = await self.sessions.store.records.find(NOTE, where, MAX_FORGOTTEN)
        return [note for note in found if note.author_key in (None, self.sessions.identity.key)]

    async def find_agents(self, hits: Sequence[HistoryHit]) -> dict[str, str]:
        """Return conversation id → agent of the hits in sessions of other agents."""
        ids = dict.fromkeys(hit.conversation_id for hit in hits if hit.conversation_id)
        records = self.sessions.store.records
        found: dict[str, str] = {}
        for uuid in ids:
            with suppress(ConversationNotFound):  # a note outlives its conversation
                found[uuid] = name_other_agent((await records.get(CONVERSATION, uuid)).agent)
        return {uuid: agent for uuid, agent in found.items() if agent}

    async def find_summaries(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        level: Level | None = None,
        conversation: str | HasId | None = None,
        everywhere: bool = False,
        unread: bool = False,
    ) -> list[Summary]:
        """Return the summaries made between two moments: of one conversation, of this project,
        or of all. With `unread` only those whose findings were not shown yet.
        """
        one = await self.sessions.resolve_id(conversation)
        project = self._project(everywhere, one)
        where = SummaryFilter(one, project, level, since, until, unread=unread)
        return await self.sessions.store.records.find(SUMMARY, where)

    async def find_recent_summaries(
        self,
        days: float = 7,
        *,
        level: Level | None = None,
        conversation: str | HasId | None = None,
        everywhere: bool = False,
    ) -> list[Summary]:
        """Return the summaries of the last days, as `find_summaries` does."""
        since = now() - timedelta(days=days)
        return await self.find_summaries(
            since, level=level, conversation=conversation, everywhere=everywhere
        )

    async def find_summaries_mentioning_file(self, path: str) -> list[Summary]:
        """Return the summaries of this project that mention a file, newest first.

        The path is relative to the directory or to the project; the file may be gone. Raises
        InputError if it may mean several files.
        """
        from ragforge.memory.code.about import resolve_subject

        cwd, project = self.sessions.cwd, self.sessions.project
        subject = await resolve_subject(self.sessions.store, path, cwd, project)
        found: dict[str, Summary] = {}
        for file in subject.files:
            summaries = await self.history.get_summaries_mentioning_file(file, project.ids)
            found |= {summary.uuid: summary for summary in summaries}
        return sorted(found.values(), key=lambda summary: summary.created_at, reverse=True)

    async def find_unread_findings(self, everywhere: bool = False) -> list[Summary]:
        """Return the summaries of this project, or of all, with findings that were not shown
        yet, newest first. `mark_findings_read` takes them off the list.
        """
        return await self.history.get_unread_findings(self._project(everywhere))

    async def mark_findings_read(self, summaries: Sequence[Summary]) -> None:
        """Record that the findings of these summaries were shown."""
        await self.history.mark_findings_read(summaries)

    async def trim_summaries(
        self,
        before: datetime,
        level: Level | None = None,
        conversation: str | HasId | None = None,
        *,
        everywhere: bool = False,
    ) -> int:
        """Delete the summaries made before a moment: of one conversation, of this project, or of
        all. What they covered is not summarised again. Returns how many were deleted.
        """
        one = await self.sessions.resolve_id(conversation)
        project = self._project(everywhere, one)
        return await self.sessions.store.timeline.trim(before, level, one, project)

    async def summarise(self, conversation_id: str) -> str:
        """Return what a whole conversation is about, up to its last turn, and remember it.

        Raises ModelError if the model fails.
        """
        return await self.condenser.summarise_all(conversation_id)

    def _project(
        self, everywhere: bool, conversation_id: str | None = None
    ) -> Sequence[str] | None:
        """Return the ids of the project to which a search is limited, or None for all."""
        is_limited = not everywhere and conversation_id is None
        return self.sessions.project.ids if is_limited else None


PAGE = 200


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """The result of a rebuild."""

    conversations: int
    summaries: int
    failed_jobs: int


@dataclass(frozen=True, slots=True)
class EmbeddedMemory:
    """How many turns have a vector of the current model."""

    model: str
    turns: int
    missing: int


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Maintenance of a whole store or project, started by the user."""

    project: OpenProject
    condenser: Condenser
    worker: Worker

    async def rebuild(
        self, everywhere: bool, recreate: bool, on_progress: Callable[[int, int], None]
    ) -> RebuildReport:
        """Make the summaries and vectors that are due now; `recreate` deletes the old ones first.

        Reports the number of finished conversations and of all. Jobs of a failed model stay queued.
        """
        found = [one async for one in self._conversations(everywhere)]
        for done, conversation in enumerate(found):
            on_progress(done, len(found))
            if recreate:
                await self._delete_summaries(conversation.uuid)
            await self.condenser.enqueue_due(conversation.uuid)
            await self._drain()
        if self.project.recall.embedder is not None:
            await embed_missing(self.project.store, self.project.recall.embedder)
        on_progress(len(found), len(found))
        find = self.project.store.records.find
        counts = [len(await find(SUMMARY, SummaryFilter(one.uuid))) for one in found]
        failed = (await self.project.store.jobs.count()).by_status["dead"]
        return RebuildReport(len(found), sum(counts), failed)

    async def finish_upkeep(self, seconds: float) -> None:
        """Do the upkeep of the store that is due, up to a number of seconds."""
        await do_upkeep(self.project.store, self.worker.holder, seconds)

    async def count_embedded(self) -> EmbeddedMemory:
        """Return how many turns have a vector of the model. Raises InputError if there is none."""
        embedder = self._require_embedder()
        missing, turns = await self.project.store.index.count_pending(
            TURN, name_turn_model(embedder.name)
        )
        return EmbeddedMemory(embedder.name, turns, missing)

    async def embed_memory(self, on_progress: Callable[[int], None]) -> EmbeddedMemory:
        """Give every turn a vector of the current model, now.

        Raises InputError if there is no model, ModelError if it fails.
        """
        await embed_missing(self.project.store, self._require_embedder(), on_progress)
        return await self.count_embedded()

    def _require_embedder(self) -> Embedder:
        if self.project.recall.embedder is None:
            raise InputError(
                "Memory is searched only by words: embeddings.model is none, or "
                "agent.memory.embeddings.enabled is false."
            )
        return self.project.recall.embedder

    async def _drain(self) -> None:
        """Do the queued jobs, and wait for running summaries: others follow them."""
        await self.worker.drain()
        running = JobFilter("running")
        while any(
            one.kind == SUMMARY_JOB for one in await self.project.store.records.find(JOB, running)
        ):
            await asyncio.sleep(POLL_SECONDS / 4)
            await self.worker.drain()

    async def _delete_summaries(self, conversation_id: str) -> None:
        """Delete the summaries of a conversation, and forget that others were trimmed."""
        records = self.project.store.records
        for level in (1, 2):  # with a short-term one goes what is built on it
            for summary in await records.find(SUMMARY, SummaryFilter(conversation_id, level=level)):
                await records.delete(SUMMARY, summary.uuid)
        await self.project.store.timeline.forget_trims(conversation_id)

    async def _conversations(self, everywhere: bool) -> AsyncIterator[Conversation]:
        project_ids = None if everywhere else self.project.brain.place.ids
        where = ConversationFilter(project_ids=project_ids, own=True)
        offset = 0
        while page := await self.project.store.records.find(CONVERSATION, where, PAGE, offset):
            for conversation in page:
                yield conversation
            offset += len(page)
