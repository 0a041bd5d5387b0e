"""A whole store: records, copies, imported sessions, jobs and locks, on one engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ragforge.domain.conversation_bundle import Bundle
from ragforge.domain.kinds import Data, Filter, Kind
from ragforge.domain.schema import KINDS
from ragforge.domain.transcripts import IntakeStep, StoredIds, TranscriptCursor
from ragforge.domain.work import Holder, Job, JobCounts, Lock, NewJob
from ragforge.errors import InputError
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.domain.queries import Query, QueryResult
    from ragforge.ports.code_graph import CodeGraph
    from ragforge.ports.search_index import SearchIndex
    from ragforge.ports.timeline import Timeline

RecordKind: TypeAlias = str
"""The name of a declared kind, or of one that is derived from others."""
_LAST = ("relation", "reference", "mention", "branch", "vector", "job", "forgotten")

Fact: TypeAlias = str | int | float | bool | bytes | list[str] | None
Record: TypeAlias = Mapping[str, Fact]


class JobQueue(Protocol):
    """Durable jobs. A lease that has expired, or whose process is dead, can be taken.

    An expired lease that was not taken is still its holder's. `Records` finds jobs, and
    updates those without a holder.
    """

    async def enqueue(self, jobs: Sequence[NewJob], again: bool = False) -> int:
        """Add jobs and return how many are new; a known key in any status is not new.

        They are the viewer's: no other user's worker takes them.

        With `again`, a job that is done or dead is restarted with no attempts, and counts.
        """

    async def claim(
        self, holder: Holder, lease: timedelta, kinds: Sequence[str] | None = None
    ) -> Job | None:
        """Take the job that has been due longest, or return None. Counts as an attempt.

        It is the viewer's, or one of an older store without an owner, and can be done on the
        holder's machine.
        """

    async def heartbeat(self, key: str, holder: Holder, lease: timedelta) -> None:
        """Extend a lease. Raises LeaseLost."""

    async def settle(self, job: Job, holder: Holder) -> None:
        """End a lease with the status, attempts, error and date that the job has now.

        `finish`, `release` and `fail` (`domain/work.py`) change a claimed job. Raises LeaseLost.
        """

    async def count(self) -> JobCounts:
        """Count the jobs of the viewer, or without an owner, by status; and those of others."""


class LockStore(Protocol):
    """Named locks for all processes, free once their holder is dead or their lease expired."""

    async def acquire(self, name: str, holder: Holder, ttl: timedelta) -> bool:
        """Take or renew a lock; False if another holder has it."""

    async def release(self, name: str, holder: Holder) -> None:
        """Release a lock; not holding it does nothing."""

    async def held(self, names: Sequence[str]) -> dict[str, Lock]:
        """Return the locks that are held now, by name."""


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """How many texts have the words of the new tokeniser; the others keep old ones until then."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """The size of a file before and after, in bytes, with its log."""

    before: int
    after: int
    is_delayed: bool = False  # the file gets smaller once those who read it now are done

    @property
    def given_back(self) -> int:
        return max(self.before - self.after, 0)


class Upkeep(Protocol):
    """Keeps a store small and its words current, in any number of processes at once."""

    async def step(self) -> bool:
        """Do a small piece of what is due; return whether more may be due.

        No writer waits longer than for another write. What a killed process did stays
        done. A store that can only be read has nothing due.
        """

    async def reindexing(self) -> ReindexProgress | None:
        """Return the progress of reindexing; None if the words are those of the tokeniser."""


def list_record_kinds() -> tuple[RecordKind, ...]:
    """Return all kinds in the order in which they are written: each refers to earlier ones."""
    return (*(name for name in KINDS if name not in _LAST), *_LAST)


class Archive(Protocol):
    """All data of a store as plain records, the same on every engine, without locks.

    An administrator, who opens a store for no viewer, reads all of them. Records of the kind
    `bookmark` have a name and a value. They are read and written like others, but belong to the
    store and are not copied.
    """

    async def count(self, kind: RecordKind) -> int:
        """Return how many records of a kind there are."""

    async def read(
        self, kind: RecordKind, after: str | None, limit: int
    ) -> list[tuple[str, Record]]:
        """Return records with their cursors, in the order of cursors, after the given one."""

    async def conversation(self, conversation_id: str, with_vectors: bool = True) -> Bundle:
        """Return all records that belong to a conversation, as a consistent snapshot.

        Without their data vectors cost a fraction. Raises ConversationNotFound.
        """

    async def write(self, bundle: Bundle, new: bool = False) -> None:
        """Store records of any kinds exactly, in one transaction.

        They replace those that are there. A conversation that has more messages here keeps its
        facts: it continued. A bookmark without a value is removed. Raises InputError if the store
        is opened for a viewer and other records than bookmarks are written.

        If they are those of a new conversation, which a viewer may write too, nothing is
        replaced: DuplicateId is raised if an id is taken, and a note that is there keeps its facts
        and its vector, for notes outlive the conversations they were made in. The counters are
        those of the messages. Branches are linked as far as their other ends are there.

        Raises DimensionMismatch.
        """


def check_writer(viewer: str | None, bundle: Bundle, new: bool) -> None:
    """Raise InputError if a viewer would replace records: only an administrator may do that."""
    if viewer is not None and not new and bundle.keys() != {"bookmark"}:
        raise InputError(
            "Only an administrator can write records: open the store without a viewer."
        )


class Records(Protocol):
    """Items by their ids and by filters, of the kinds that are declared in `domain/schema.py`.

    Every method that writes is one transaction: durable when it returns, without a trace when it
    raises. Input that cannot be stored exactly raises an InputError. An unknown id raises the
    error of its kind, such as NoteNotFound.
    """

    async def get(self, kind: Kind[Data, Any], item_id: str) -> Data:
        """Return an item. Raises a NotFound if the id is unknown."""

    async def get_many(self, kind: Kind[Data, Any], ids: Sequence[str]) -> dict[str, Data]:
        """Return items by their ids; unknown ids are left out."""

    async def find(
        self,
        kind: Kind[Data, Filter],
        where: Filter,
        limit: int | None = None,
        offset: int = 0,
        order: Sequence[str] = (),
    ) -> list[Data]:
        """Return the items that pass a filter, in the order of their kind.

        Conversations: the last active first. Notes: the newest first. Summaries: oldest range
        first within a conversation; their dates are those of creation. Jobs: the oldest first,
        without those of other authors, which do not exist for the viewer. Files: by path. Scopes:
        by file and line, the outer before the inner. Ties by id.
        Another `order` names columns: after "-" from the highest, which those without a value
        precede.
        """

    async def put(self, kind: Kind[Data, Any], *items: Data) -> None:
        """Store new items; a checkout, a project or a usage takes the place of the one with its id.

        Messages, summaries, jobs, files and scopes are stored by their own ports: InputError. The
        counters of a conversation start at zero. Raises DuplicateId if an id is taken, or if
        another project has the path on its host, NoteNotFound if a note supersedes an unknown one,
        NotAuthor if an item would belong to another author's conversation.
        """

    async def update(
        self,
        kind: Kind[Data, Any],
        item_id: str,
        change: Callable[[Data], Data],
        force: bool = False,
    ) -> Data:
        """Replace an item by the result of a function, and return it.

        The function may be called again, if others write meanwhile. To change a conversation is
        no activity: `updated_at` stays. Its visibility is also that of its messages, summaries
        and the notes its author made in it.
        Raises a NotFound, NotAuthor if it is another author's, unless forced; InputError if it
        has no author and is to be private.
        """

    async def delete(self, kind: Kind[Any, Any], item_id: str, force: bool = False) -> None:
        """Delete an item with all that belongs to it: vectors, index entries, and of these kinds:

        - conversation: messages and summaries. Its branches stay, on their own. If it was imported
          from another agent, its ids are remembered, so that it does not come back.
        - note: one that it superseded is found again.
        - summary: any L2 built on it, too. What they covered is eligible again.
        - project: files, scopes and relations. An engine may do so in several transactions. If
          that breaks off, what is left is a project whose files are all read again by the next
          ingestion; deleting it again ends it.

        Raises a NotFound, and NotAuthor if it is another author's, unless forced.
        """


@dataclass(frozen=True, slots=True)
class Health:
    """A store's description of itself."""

    engine: str
    version: str
    location: str
    schema: int
    problems: tuple[str, ...] = ()
    read_only: bool = False
    bytes: int | None = None  # on disk; None where the engine does not say


class ReadHealth(Protocol):
    """Describes a store, and checks it. A deep check has no time limit.

    Without `check`, nothing is looked for and no problems are reported: that costs nothing.
    """

    async def __call__(self, deep: bool = False, *, check: bool = True) -> Health: ...


class RunQuery(Protocol):
    """Runs a user's query, in the engine's language: Cypher, or SQL over views.

    It can only read, whatever it says. Raises InputError for one that cannot be run, would
    change something or takes too long.
    """

    async def __call__(self, query: Query) -> QueryResult: ...


@dataclass(frozen=True, slots=True)
class Store:
    """The ports of one engine, opened together for one viewer.

    What is private to another author does not exist for the viewer, in no method of no port. What
    others share may be read and branched, and only its author may change it: NotAuthor is
    raised. What has no author belongs to all.
    """

    records: Records
    index: SearchIndex
    timeline: Timeline
    code: CodeGraph
    jobs: JobQueue
    locks: LockStore
    archive: Archive
    transcripts: TranscriptStore
    health: ReadHealth
    query: RunQuery
    upkeep: Upkeep
    close: Callable[[], Awaitable[None]]
    viewer: str | None = None  # the key of the author who opened it; None: an administrator
    read_only: bool = False  # it can be read, and nothing in it changed


class TranscriptStore(Protocol):
    """Imports the transcripts of other agents. Each viewer has separate cursors.

    Messages are known by their ids, which follow from those of the agent: nothing is stored
    twice, and what was deleted does not come back.
    """

    async def stamps(self, host: str) -> dict[str, dict[str, str]]:
        """Return agent → path → stamp of the transcripts on a machine, as they were last read."""

    async def cursor(self, agent: str, host: str, path: str) -> TranscriptCursor:
        """Return how far a transcript was imported; a cursor of revision 0 if it was not."""

    async def look_up(self, messages: Collection[str], conversations: Collection[str]) -> StoredIds:
        """Return where messages are, and the newest turns of these and of other conversations.

        What the viewer deleted, and what another user shares, is not new either: such a message
        is in the conversation FORGOTTEN, before its first turn; such a conversation has no turn.
        """

    async def take_in(self, cursor: TranscriptCursor, steps: Sequence[IntakeStep]) -> bool:
        """Apply steps in their order, and move the cursor, in one transaction.

        Returns False, and changes nothing, if another process moved the cursor meanwhile, or stored
        one of the messages: read the cursor again, and what follows it.

        A branch shares the turns before it with its origin: they are stored, counted and found
        there. It has a copy of a turn that continues differently in the branch, whose ids follow
        from those of the originals and of the branch. Steps for what was deleted, or is
        another author's, are left out. A turn that grows loses its vector and its summary, and its
        links to code are to be made.
        """

    async def share_copies(self) -> int:
        """Remove the copies of turns that older versions stored in branches of the viewer's.

        The branches share the originals from then on. Returns how many branches were changed.
        """
