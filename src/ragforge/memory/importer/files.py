"""Importer: import what is new in other agents' transcripts, file by file, and report it."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from ragforge.domain.conversations import Identity
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.transcripts import (
    CallResult,
    IntakeStep,
    NewConversation,
    NewMessage,
    TranscriptCursor,
)
from ragforge.errors import StoreError
from ragforge.memory.importer.sessions import SessionBook
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.transcripts.record import Record, SessionFacts
from ragforge.transcripts.session_builder import SessionBuilder, StoredPlace
from ragforge.transcripts.source import Piece, TranscriptSource

MAX_LINES = 200
"""How many of the lines that could not be read are listed; the counts are of all."""
log = logging.getLogger(__name__)

FindPlace: TypeAlias = Callable[[str, str | None], Awaitable[ProjectPlace]]
"""Returns the project of a working directory, which may be gone, and of a repository's address."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The moment of what has none: the same whenever it is read."""

MAX_KINDS = 5


@dataclass(slots=True)
class AgentReport:
    """What was imported from one agent's transcripts."""

    files: int = 0  # that were found
    read: int = 0  # that had something new
    elsewhere: int = 0  # of which another process imported something at the same time
    sessions: int = 0
    turns: int = 0
    messages: int = 0
    calls: int = 0
    results: int = 0
    size: int = 0  # bytes
    lines: int = 0
    unknown: Counter[str] = field(default_factory=Counter)  # kind of record → how many
    skipped: Counter[str] = field(default_factory=Counter)  # reason → how many lines

    def add(self, piece: Piece, steps: Sequence[IntakeStep]) -> None:
        """Count a piece and the steps that it gave."""
        self.size += piece.size
        self.lines += piece.lines
        self.unknown.update(piece.unknown)
        self.skipped.update(piece.skipped)
        for step in steps:
            if isinstance(step, NewConversation):
                self.sessions += 1
            elif isinstance(step, NewMessage):
                self.messages += 1
                self.turns += step.message.role == "user"
                self.calls += len(step.message.tool_calls)
            elif isinstance(step, CallResult):
                self.results += 1


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A transcript that could not be read, and why. The others still are."""

    agent: str
    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line of a transcript that could not be read, and why. The others are."""

    agent: str
    path: Path
    number: int  # from 1
    reason: str


@dataclass(slots=True)
class ImportReport:
    """What an import did, by agent."""

    agents: dict[str, AgentReport] = field(default_factory=dict)
    problems: list[FileProblem] = field(default_factory=list)
    empty: list[FileProblem] = field(default_factory=list)  # read, and gave nothing
    lines: list[LineProblem] = field(default_factory=list)  # the first MAX_LINES
    conversations: set[str] = field(default_factory=set)  # that changed
    projects: set[str] = field(default_factory=set)  # of the files that were read
    transcripts: list[tuple[str, Path]] = field(default_factory=list)  # that had something new

    def of(self, agent: str) -> AgentReport:
        """Return the part about an agent."""
        return self.agents.setdefault(agent, AgentReport())

    def add(self, agent: str, path: Path, piece: Piece, steps: Sequence[IntakeStep]) -> None:
        """Count a piece of a transcript and the steps that it gave."""
        self.of(agent).add(piece, steps)
        self.conversations |= {
            step.conversation_id for step in steps if isinstance(step, NewMessage)
        }
        room = MAX_LINES - len(self.lines)
        self.lines += [
            LineProblem(agent, path, line.number, line.reason)
            for line in piece.skipped_lines[:room]
        ]

    def describe_kept(self) -> str:
        """Return a sentence about what was imported before something failed."""
        every = self.agents.values()
        sessions, turns = sum(one.sessions for one in every), sum(one.turns for one in every)
        return (
            f"Imported before: {sessions:,} new sessions, {turns:,} turns. "
            "The next import continues there."
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing new was found."""
        return not self.conversations


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """The progress of an import."""

    agent: str
    path: Path
    done: int  # files
    total: int
    size: int  # bytes that were read of this file


@dataclass(slots=True)
class Importer:
    """Imports transcripts. An import that was interrupted is continued by the next one.

    Several processes may import at once: the second continues where the first one stopped.
    """

    store: Store
    identity: Identity
    host: str  # of the transcripts
    find_place: FindPlace
    max_result_chars: int
    only_look: bool = False  # count what would be imported, and store nothing
    is_stopped: Callable[[], bool] = lambda: False
    is_excluded: Callable[[str], bool] = lambda _: False  # a working directory
    ignored: dict[str, str] = field(default_factory=dict)  # what cannot be read → its stamp
    _places: dict[str, ProjectPlace] = field(default_factory=dict)
    _looked: dict[str, StoredPlace] = field(default_factory=dict)  # messages that would be stored
    _looked_turns: dict[str, int] = field(default_factory=dict)

    async def import_files(
        self,
        source: TranscriptSource,
        paths: Sequence[Path],
        stamps: Mapping[str, str],
        report: ImportReport,
        on_progress: Callable[[ImportProgress], None] = lambda _: None,
    ) -> None:
        """Import what is new in an agent's transcripts. One that fails does not affect the others.

        Files whose stamp is unchanged are not opened.
        """
        about = report.of(source.name)
        about.files += len(paths)
        known = {**stamps, **self.ignored}
        changed, problems = await asyncio.to_thread(_compare, source, paths, known)
        report.problems += problems
        for number, (path, stamp) in enumerate(changed):
            if self.is_stopped():
                return

            def show(size: int, path: Path = path, number: int = number) -> None:
                on_progress(ImportProgress(source.name, path, number, len(changed), size))

            show(0)
            try:
                before = about.lines
                await self._import_file(source, path, stamp, report, show)
                if about.lines > before:
                    about.read += 1
                    report.transcripts.append((source.name, path))
            except StoreError:
                raise
            except Exception as error:  # whatever is wrong with one file, the others are read
                log.info("The transcript %s is not read", path, exc_info=True)
                report.problems.append(FileProblem(source.name, path, _describe(error)))
                self.ignored[str(path)] = stamp

    async def _import_file(
        self,
        source: TranscriptSource,
        path: Path,
        stamp: str,
        report: ImportReport,
        on_read: Callable[[int], None],
    ) -> None:
        """Import what is new in a file. What another process imports of it is not read again."""
        cursor = await self.store.transcripts.cursor(source.name, self.host, str(path))
        is_shared = cursor.stamp == stamp  # it was not, a moment ago
        while cursor.stamp != stamp:
            if await self._read_on(source, path, replace(cursor, stamp=stamp), report, on_read):
                break
            is_shared = True
            cursor = await self.store.transcripts.cursor(source.name, self.host, str(path))
        report.of(source.name).elsewhere += is_shared

    async def _read_on(
        self,
        source: TranscriptSource,
        path: Path,
        cursor: TranscriptCursor,
        report: ImportReport,
        on_read: Callable[[int], None],
    ) -> bool:
        """Import what follows a cursor; return False if another process moved it meanwhile.

        The stamp is stored with the last piece: a file that was interrupted is read again.
        """
        state = cursor.state or {}
        builder = SessionBuilder(source.name, EPOCH)
        builder.load(state.get("fold"))
        if self.only_look:  # what would be stored of one file, a copy of it does not add
            builder.places, builder.turns = self._looked, self._looked_turns
        book = SessionBook(
            agent=source.name,
            identity=self.identity,
            max_result_chars=self.max_result_chars,
            make_id=builder.make_id,
            places=self._places,
            folder=str(path.parent),
            is_excluded=self.is_excluded,
        )
        book.load(state.get("sessions"))
        for cwd, remote in book.list_folders().items():
            await self._learn_place(cwd, remote)
        pieces = source.read(path, state.get("source"))
        stamp = cursor.stamp
        is_new = cursor.state is None
        has_steps = is_stored = False
        tally = FileTally(source.name, path)
        piece = await asyncio.to_thread(_read_next, pieces)
        while piece is not None:
            following = await asyncio.to_thread(_read_next, pieces)
            steps = await self._make_steps(builder, book, piece)
            made = {"source": piece.cursor, "fold": builder.save(), "sessions": book.save()}
            cursor = replace(cursor, stamp="" if following else stamp, state=made)
            has_steps = has_steps or bool(steps)
            if (has_steps or not is_new) and not self.only_look:
                if not await self.store.transcripts.take_in(cursor, steps):
                    return False
                cursor = replace(cursor, revision=cursor.revision + 1)
                is_stored = True
            tally.add(piece, steps)
            if is_stored or self.only_look:
                tally.move_to(report)
            report.projects |= {self._places[cwd].id for cwd in book.list_folders()}
            on_read(piece.size)
            if self.is_stopped():
                return True
            piece = following
        is_foreign = is_new and tally.is_foreign
        if is_foreign:  # its stamp is not stored: a later version may be able to read it
            self.ignored[str(path)] = stamp
        is_done = is_stored or is_foreign or self.only_look
        if not is_done and not await self.store.transcripts.take_in(cursor, ()):
            return False
        tally.move_to(report)
        if is_new and not tally.counts.messages:
            reason = tally.explain(book.leaves_out)
            report.empty.append(FileProblem(source.name, path, reason))
        return True

    async def _make_steps(
        self, builder: SessionBuilder, book: SessionBook, piece: Piece
    ) -> list[IntakeStep]:
        """Return what a piece gives the store, which is asked first what it has of it."""
        needs = builder.list_needs(piece.entries)
        stored = await self.store.transcripts.look_up(needs.messages, needs.conversations)
        if not self.only_look:  # the store has all of it: no need to keep it in mind
            builder.places.clear()
            builder.turns.clear()
        builder.places |= {uuid: StoredPlace(*place) for uuid, place in stored.messages.items()}
        builder.turns |= stored.turns
        for entry in piece.entries:
            if isinstance(entry, SessionFacts) and entry.cwd:
                await self._learn_place(entry.cwd, entry.remote)
        return await asyncio.to_thread(lambda: book.translate(builder.build(piece.entries)))

    async def _learn_place(self, cwd: str, remote: str | None) -> None:
        if cwd not in self._places and not self.is_excluded(cwd):
            self._places[cwd] = await self.find_place(cwd, remote)


def _compare(
    source: TranscriptSource, paths: Sequence[Path], stamps: Mapping[str, str]
) -> tuple[list[tuple[Path, str]], list[FileProblem]]:
    """Return the transcripts whose stamps changed, and those that cannot be looked at."""
    changed: list[tuple[Path, str]] = []
    problems: list[FileProblem] = []
    for path in paths:
        try:
            stamp = source.stamp(path)
        except OSError as error:
            problems.append(FileProblem(source.name, path, _describe(error)))
            continue
        if stamps.get(str(path)) != stamp:
            changed.append((path, stamp))
    return changed, problems


def _read_next(pieces: Iterator[Piece]) -> Piece | None:
    """Return the next piece, with a cursor that the one after it does not change."""
    piece = next(pieces, None)
    return None if piece is None else replace(piece, cursor=deepcopy(piece.cursor))


def _describe(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error) or type(error).__name__


@dataclass(slots=True)
class FileTally:
    """The counts of one transcript, piece by piece."""

    agent: str
    path: Path
    has_records: bool = False
    has_words: bool = False
    counts: AgentReport = field(default_factory=AgentReport)
    _uncounted: list[tuple[Piece, Sequence[IntakeStep]]] = field(default_factory=list)

    def add(self, piece: Piece, steps: Sequence[IntakeStep]) -> None:
        """Count a piece and the steps that it gave."""
        self.counts.add(piece, steps)
        records = [entry for entry in piece.entries if isinstance(entry, Record)]
        self.has_records |= bool(records)
        self.has_words |= any(record.speaker is not None for record in records)
        self._uncounted.append((replace(piece, entries=()), steps))

    def move_to(self, report: ImportReport) -> None:
        """Count in a report what was added since the last time."""
        for piece, steps in self._uncounted:
            report.add(self.agent, self.path, piece, steps)
        self._uncounted.clear()

    @property
    def is_foreign(self) -> bool:
        """Whether the file has another shape than the agent's transcripts."""
        return not self.has_records and bool(self.counts.unknown or self.counts.skipped)

    def explain(self, is_excluded: bool) -> str:
        """Return the reason why nothing was imported."""
        if is_excluded:
            return "its folder is excluded"
        if self.has_words:
            return "all of it is stored already, or was deleted"
        if not self.counts.lines:
            return "it holds no complete message"
        lines = f"{self.counts.lines:,} lines" if self.counts.lines > 1 else "1 line"
        if not self.is_foreign:
            return f"there are no messages in its {lines}"
        kinds = _list_kinds(self.counts.unknown | self.counts.skipped)
        return f"nothing in its {lines} looks like this agent's transcripts: {kinds}"


def _list_kinds(counts: Mapping[str, int]) -> str:
    common = Counter(counts).most_common()
    more = ["…"] if len(common) > MAX_KINDS else []
    return ", ".join([*(f"{kind} ({count:,})" for kind, count in common[:MAX_KINDS]), *more])
