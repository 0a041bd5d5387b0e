"""Overview: what a store holds, a project's time line, and how often its files were discussed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragforge.app.wiring.brain import INGEST_JOB, name_ingest_kind
from ragforge.app.wiring.trust import FolderTrust
from ragforge.domain.code import File, FileFilter, Touch
from ragforge.domain.conversations import Conversation, ConversationFilter
from ragforge.domain.schema import CONVERSATION, FILE, SUMMARY
from ragforge.domain.summaries import Summary, SummaryFilter
from ragforge.domain.work import Job
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.app.features.code import Code
    from ragforge.app.features.contents import Contents
    from ragforge.domain.projects import ProjectPlace
    from ragforge.memory.code.changes import Commit
    from ragforge.ports.store import Health, Store

EventKind: TypeAlias = Literal["session", "commit", "job"]
MAPPED = 800
TOUCHES = 10_000
COMMITS = 500
JOBS = 100
LONG_AGO = datetime.fromisoformat("1970-01-02T00:00:00+00:00")
_MOMENT = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class MappedFile:
    """A file of the project, with what sessions did with it."""

    path: str
    size: int
    touches: int = 0  # turns that edited, read or named it or something in it
    last: datetime | None = None  # when the last of them did
    is_stale: bool = False  # it was changed after that


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a project."""

    kind: EventKind
    when: datetime
    about: Conversation | Commit | Job
    summaries: Sequence[Summary] = ()  # of a session: of both levels, by their turns


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of a project's time line, the newest first."""

    events: Sequence[Event]
    before: datetime | None  # where the stretch before it ends; None: nothing is older


@dataclass(frozen=True, slots=True)
class Overview:
    """What happened in the projects of one store, and which files it was about."""

    store: Store
    project: ProjectPlace
    code: Code

    async def count_contents(self) -> Contents:
        """Return how much the store holds, of whom, and since when."""
        from ragforge.app.features.contents import summarise

        count = self.store.archive.count
        sessions = await self.store.records.find(CONVERSATION, ConversationFilter())
        return summarise(sessions, await count("summary"), await count("note"))

    async def describe_store(self, *, check: bool = False) -> Health:
        """Return which store it is; with `check`, after looking for problems in all of it."""
        return await self.store.health(check=check)

    async def map_files(self, limit: int = MAPPED) -> list[MappedFile]:
        """Return the largest files of the project, largest first; none if its code is unknown."""
        if not self.code.is_read or not await self.code.is_ingested():
            return []
        files = await self.store.records.find(FILE, FileFilter(self.code.brain.project_id))
        largest = sorted(files, key=lambda file: (-file.size, file.path))[:limit]
        touches = await self.store.timeline.touches(
            files=[file.path for file in largest], project_ids=self.project.ids, limit=TOUCHES
        )
        by_file: dict[str, list[Touch]] = {}
        for touch in touches:
            by_file.setdefault(touch.file, []).append(touch)
        return [_map_file(file, by_file.get(file.path, ())) for file in largest]

    async def read_period(
        self, project_ids: Sequence[str], sessions: int, before: datetime | None = None
    ) -> Period:
        """Return what happened in a project before a moment, or until now: the last sessions by
        their last activity, with their summaries, and commits and unfinished jobs of that time.

        Commits are those of the project that is open here, or of the folder where the last
        session was, if that is there and may be read.
        """
        until = None if before is None else before - _MOMENT
        where = ConversationFilter(project_ids=project_ids, until=until)
        found = await self.store.records.find(CONVERSATION, where, sessions + 1)
        since = found[sessions - 1].updated_at if len(found) > sessions else None
        summaries = await self._load_summaries([one.uuid for one in found[:sessions]])
        events = [
            Event("session", one.updated_at, one, summaries.get(one.uuid, ()))
            for one in found[:sessions]
        ]
        is_own = bool(set(project_ids) & set(self.project.ids))
        folder = self.code.project_path if is_own or not found else Path(found[0].project_path)
        if is_own or found:
            commits = await self.list_commits(folder, since or LONG_AGO, until)
            events += [Event("commit", one.when, one) for one in commits]
        events += [
            Event("job", one.created_at, one)
            for one in await self.code.jobs.find(JOBS)
            if _is_of(one, project_ids, is_own) and _is_in(one.created_at, since, until)
        ]
        events.sort(key=lambda event: event.when, reverse=True)
        return Period(tuple(events), since)

    async def _load_summaries(self, sessions: Sequence[str]) -> dict[str, list[Summary]]:
        """Return the summaries of some sessions: those of a session by level and turns."""
        where = SummaryFilter(conversation_ids=sessions)
        found = await self.store.records.find(SUMMARY, where)
        by_session: dict[str, list[Summary]] = {}
        for one in sorted(found, key=lambda one: (-one.level, one.start_turn_index)):
            by_session.setdefault(one.conversation_id, []).append(one)
        return by_session

    async def list_commits(
        self, folder: Path, since: datetime, until: datetime | None
    ) -> Sequence[Commit]:
        """Return the commits of a folder between two moments; none if it may not be read."""
        from ragforge.tools.command.run import CommandRunner
        from ragforge.tools.git import GitHistory

        is_here = folder == self.code.project_path
        trust = self.code.trust if is_here else FolderTrust.of(self.code.settings, folder)
        if not trust.reads or not folder.is_dir():
            return ()
        log = GitHistory(CommandRunner(folder))
        return await log.list_commits(since, until, COMMITS)

    async def find_busiest_files(self, since: datetime, limit: int) -> list[MappedFile]:
        """Return the files of the open project that most turns touched since a moment."""
        if not self.code.is_read or not await self.code.is_ingested():
            return []
        files = await self.store.records.find(FILE, FileFilter(self.code.brain.project_id))
        known = {file.path: file for file in files}
        touches = await self.store.timeline.touches(
            files=list(known), project_ids=self.project.ids, limit=TOUCHES
        )
        by_file: dict[str, list[Touch]] = {}
        for touch in touches:
            if touch.when >= since and not touch.by_summary and touch.file in known:
                by_file.setdefault(touch.file, []).append(touch)
        busy = [_map_file(known[path], some) for path, some in by_file.items()]
        return sorted(busy, key=lambda file: (-file.touches, file.path))[:limit]

    async def list_changed_files(self) -> Sequence[str]:
        """Return the files of the open project that differ from the last commit, or are new."""
        from ragforge.tools.command.run import CommandRunner
        from ragforge.tools.git import GitHistory

        if not self.code.trust.reads:
            return ()
        return await GitHistory(CommandRunner(self.code.project_path)).list_changed_files()


def _map_file(file: File, touches: Sequence[Touch]) -> MappedFile:
    # Summaries repeat what turns touched, and may have been made long after them.
    by_turns = [touch for touch in touches if not touch.by_summary] or touches
    last = max((touch.when for touch in by_turns), default=None)
    turns = {(touch.conversation_id, touch.first_turn) for touch in by_turns}
    is_stale = last is not None and file.mtime is not None and file.mtime > last
    return MappedFile(file.path, file.size, len(turns), last, is_stale)


def _is_of(job: Job, project_ids: Sequence[str], is_own: bool) -> bool:
    """Tell whether a job is the ingestion of a project; of the open one, all others are too."""
    if job.kind.startswith(f"{INGEST_JOB}:"):
        return job.kind in map(name_ingest_kind, project_ids)
    return is_own


def _is_in(moment: datetime, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or moment >= since) and (until is None or moment <= until)
