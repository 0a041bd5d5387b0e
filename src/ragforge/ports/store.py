"""A whole store: all ports for data, on one engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, Protocol

from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.domain.queries import Query, QueryResult
    from ragforge.domain.transcripts import IntakeStep, StoredIds, TranscriptCursor
    from ragforge.ports.archive import Archive
    from ragforge.ports.code_graph import CodeGraph
    from ragforge.ports.records import Records
    from ragforge.ports.search_index import SearchIndex
    from ragforge.ports.timeline import Timeline
    from ragforge.ports.work import JobQueue, LockStore, Upkeep


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
