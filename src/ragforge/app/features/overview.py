"""Overview: what a store holds, a project's time line, and how often its files were discussed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragforge.app.wiring.brain import INGEST_JOB, name_ingest_kind
from ragforge.app.wiring.projects import open_git
from ragforge.app.wiring.trust import FolderTrust
from ragforge.domain.code import File, FileFilter, Touch
from ragforge.domain.conversations import Conversation, ConversationFilter, name_author
from ragforge.domain.instants import begin_of_day
from ragforge.domain.notes import NoteFilter
from ragforge.domain.schema import CONVERSATION, FILE, NOTE, SUMMARY
from ragforge.domain.summaries import Summary, SummaryFilter
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.domain.work import Job
from ragforge.memory.rules import Rule, as_rule, find_rules
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.app.features.code import Code
    from ragforge.app.features.notes import Notes
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
        count = self.store.archive.count
        sessions = await self.store.records.find(CONVERSATION, ConversationFilter())
        return _describe_contents(sessions, await count("summary"), await count("note"))

    async def describe_store(self, *, check: bool = False) -> Health:
        """Return which store it is; with `check`, after looking for problems in all of it."""
        return await self.store.health(check=check)

    async def map_files(self, limit: int = MAPPED) -> list[MappedFile]:
        """Return the largest files of the project, largest first; none if its code is unknown."""
        files = await self._list_files()
        largest = sorted(files, key=lambda file: (-file.size, file.path))[:limit]
        touches = await self._find_touches(largest)
        return [_map_file(file, touches[file.path]) for file in largest]

    async def find_busiest_files(self, since: datetime, limit: int) -> list[MappedFile]:
        """Return the files of the open project that most turns touched since a moment."""
        files = await self._list_files()
        touches, busy = await self._find_touches(files), []
        for file in files:
            some = [one for one in touches[file.path] if one.when >= since and not one.by_summary]
            if some:
                busy.append(_map_file(file, some))
        return sorted(busy, key=lambda file: (-file.touches, file.path))[:limit]

    async def _list_files(self) -> list[File]:
        """Return the files of the open project; none if its code is unknown or may not be read."""
        if not self.code.is_read or not await self.code.is_ingested():
            return []
        return await self.store.records.find(FILE, FileFilter(self.code.brain.project_id))

    async def _find_touches(self, files: Sequence[File]) -> defaultdict[str, list[Touch]]:
        """Return what sessions of the project did with files, by path."""
        found: defaultdict[str, list[Touch]] = defaultdict(list)
        if not files:
            return found
        paths = [file.path for file in files]
        for touch in await self.store.timeline.touches(
            files=paths, project_ids=self.project.ids, limit=TOUCHES
        ):
            found[touch.file].append(touch)
        return found

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
        is_here = folder == self.code.project_path
        trust = self.code.trust if is_here else FolderTrust.of(self.code.settings, folder)
        if not trust.reads or not folder.is_dir():
            return ()
        return await open_git(folder).list_commits(since, until, COMMITS)

    async def list_changed_files(self) -> Sequence[str]:
        """Return the files of the open project that differ from the last commit, or are new."""
        if not self.code.trust.reads:
            return ()
        return await open_git(self.code.project_path).list_changed_files()


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


@dataclass(frozen=True, slots=True)
class Share:
    """The sessions of one project, agent or author."""

    key: str  # the id of a project, the name of an agent, the key of an author
    name: str  # of a project: where it was last; empty for sessions without an author
    sessions: int
    turns: int
    last: datetime


@dataclass(frozen=True, slots=True)
class Month:
    """The sessions that were last active in a month."""

    first_day: date
    sessions: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What a store holds, as far as its viewer sees it. The largest share comes first."""

    sessions: int
    turns: int
    summaries: int
    notes: int
    oldest: datetime | None
    newest: datetime | None
    projects: Sequence[Share]
    agents: Sequence[Share]
    authors: Sequence[Share]
    months: Sequence[Month]  # from the newest; months without sessions are left out


def _describe_contents(sessions: Sequence[Conversation], summaries: int, notes: int) -> Contents:
    """Return the contents of a store with these sessions, the last active first."""
    return Contents(
        sessions=len(sessions),
        turns=sum(one.turn_count for one in sessions),
        summaries=summaries,
        notes=notes,
        oldest=min((one.created_at for one in sessions), default=None),
        newest=max((one.updated_at for one in sessions), default=None),
        projects=_share(sessions, lambda one: (one.project_id, one.project_path)),
        agents=_share(sessions, lambda one: (one.agent, one.agent)),
        authors=_share(
            sessions,
            lambda one: (one.author_key or "", name_author(one.author) if one.author else ""),
        ),
        months=_count_months(sessions),
    )


def _share(
    sessions: Sequence[Conversation], name: Callable[[Conversation], tuple[str, str]]
) -> list[Share]:
    """Return the sessions with the same key together. The newest of them gives the name."""
    groups: dict[str, list[Conversation]] = {}
    names: dict[str, str] = {}
    for one in sessions:
        key, text = name(one)
        groups.setdefault(key, []).append(one)
        names.setdefault(key, text)
    shares = [
        Share(
            key,
            names[key],
            len(some),
            sum(one.turn_count for one in some),
            max(one.updated_at for one in some),
        )
        for key, some in groups.items()
    ]
    return sorted(shares, key=lambda one: (-one.sessions, one.name))


def _count_months(sessions: Sequence[Conversation]) -> list[Month]:
    counts: dict[date, int] = {}
    for one in sessions:
        first_day = one.updated_at.astimezone().date().replace(day=1)
        counts[first_day] = counts.get(first_day, 0) + 1
    return [Month(day, counts[day]) for day in sorted(counts, reverse=True)]


MAX_SESSIONS = 100
MAX_NOTES = 200
MAX_MESSAGES = 400
"""Of one session: those of a day."""
MAX_TOUCHES = 2_000
EDITED = "edited"


@dataclass(frozen=True, slots=True)
class TodaySession:
    """What happened in a session since a moment."""

    conversation: Conversation
    questions: tuple[str, ...]  # that were asked, the oldest first
    answer: str  # the last one; empty if there is none
    edited: tuple[str, ...]  # files, sorted
    is_open: bool  # its last question has no answer


@dataclass(frozen=True, slots=True)
class Today:
    """What happened since a moment. The newest of each comes first."""

    since: datetime
    sessions: Sequence[TodaySession]
    commits: Sequence[Commit]
    decisions: Sequence[Rule]  # notes, rules and lasting instructions
    uncommitted: Sequence[str]  # files that sessions edited and that differ from the last commit
    to_review: int  # notes that may contradict an older one

    @property
    def open_sessions(self) -> list[TodaySession]:
        return [one for one in self.sessions if one.is_open]

    @property
    def is_empty(self) -> bool:
        return not (self.sessions or self.commits or self.decisions)


@dataclass(frozen=True, slots=True)
class DayReports:
    """What happened in one project, or in all of a store."""

    overview: Overview
    notes: Notes

    async def report(self, since: datetime | None = None, *, everywhere: bool = False) -> Today:
        """Return what happened since a moment, or today. No model is asked.

        Commits and uncommitted files are those of the project that is open.
        """
        since = since or begin_of_day()
        ids = None if everywhere else self.overview.project.ids
        find = self.overview.store.records.find
        where = ConversationFilter(project_ids=ids, since=since)
        found = [
            await self._read(one, since) for one in await find(CONVERSATION, where, MAX_SESSIONS)
        ]
        sessions = [one for one in found if one.questions or one.edited]
        here = set(self.overview.project.ids)
        edited = {
            file for one in sessions if one.conversation.project_id in here for file in one.edited
        }
        return Today(
            since,
            sessions,
            await self.overview.list_commits(self.overview.code.project_path, since, None),
            await self._find_decisions(ids, since),
            [file for file in await self.overview.list_changed_files() if file in edited],
            len(await self.notes.find_corrections()),
        )

    async def _read(self, conversation: Conversation, since: datetime) -> TodaySession:
        timeline, uuid = self.overview.store.timeline, conversation.uuid
        messages = await timeline.messages(
            uuid, limit=MAX_MESSAGES, newest=True, with_receipts=False
        )
        turns = [one for one in group_into_turns(messages) if one.user.timestamp >= since]
        touches = await timeline.touches(conversation_id=uuid, limit=MAX_TOUCHES)
        edited = {
            one.file
            for one in touches
            if one.how == EDITED and one.when >= since and not one.by_summary
        }
        return TodaySession(
            conversation,
            tuple(one.user.content for one in turns),
            next((one.answer for one in reversed(turns) if one.answer), ""),
            tuple(sorted(edited)),
            bool(turns) and not _is_answered(turns[-1]),
        )

    async def _find_decisions(
        self, project_ids: Sequence[str] | None, since: datetime
    ) -> list[Rule]:
        """Return the notes that were made, and the instructions that were given."""
        store, reader = self.overview.store, self.notes.sessions.identity.key
        made = await store.records.find(NOTE, NoteFilter(project_ids, since=since), MAX_NOTES)
        said = await find_rules(store, project_ids, reader)
        rules = [*map(as_rule, made), *(one for one in said if not one.is_note)]
        rules = [one for one in rules if one.when >= since]
        return sorted(rules, key=lambda one: one.when, reverse=True)


def _is_answered(turn: Turn) -> bool:
    """Tell whether a turn has an answer: of a model, or what was found without one."""
    return turn.is_answered or (bool(turn.replies) and turn.replies[-1].role == "system")
