"""A whole store: every port that keeps facts, on one engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from ragforge.records import dataclass

if TYPE_CHECKING:  # a hook uses few of them, and an agent waits for it
    from ragforge.domain.queries import Query, QueryResult
    from ragforge.ports.archive import Archive
    from ragforge.ports.code_graph import CodeGraph
    from ragforge.ports.records import Records
    from ragforge.ports.search_index import SearchIndex
    from ragforge.ports.timeline import Timeline
    from ragforge.ports.transcripts import TranscriptStore
    from ragforge.ports.upkeep import Upkeep
    from ragforge.ports.work import JobQueue, LockStore


@dataclass(frozen=True, slots=True)
class Health:
    """What a store says about itself."""

    engine: str
    version: str
    location: str
    schema: int
    problems: tuple[str, ...] = ()
    read_only: bool = False
    bytes: int | None = None  # on disk; None where the engine does not say


class ReadHealth(Protocol):
    """Looks at a store. A deep look takes as long as it takes."""

    async def __call__(self, deep: bool = False) -> Health: ...


class RunQuery(Protocol):
    """Runs a query of the user's own, in the engine's language: Cypher, or SQL over views.

    It can only read, whatever it says. Raises InputError for one that cannot be run, would
    change something or takes too long.
    """

    async def __call__(self, query: Query) -> QueryResult: ...


@dataclass(frozen=True, slots=True)
class Store:
    """The ports of one engine, opened together for one viewer.

    What is private to another author does not exist for the viewer, in no method of no port. What
    others share may be read and branched, and is changed by its author alone: NotAuthor is
    raised. What has no author is everybody's.
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
