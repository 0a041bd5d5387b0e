"""Open a SQLite store."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path

import apsw

from ragforge.adapters.stores.sqlite import reindex, words
from ragforge.adapters.stores.sqlite.archive import SqliteArchive
from ragforge.adapters.stores.sqlite.code_graph import SqliteCodeGraph
from ragforge.adapters.stores.sqlite.database import (
    LOG_BYTES,
    SqliteDatabase,
    begin_reading,
    measure_log,
)
from ragforge.adapters.stores.sqlite.intake import SqliteTranscripts
from ragforge.adapters.stores.sqlite.migrate import is_locked, prepare
from ragforge.adapters.stores.sqlite.query import run_query
from ragforge.adapters.stores.sqlite.records import SqliteRecords
from ragforge.adapters.stores.sqlite.search_index import SqliteIndex
from ragforge.adapters.stores.sqlite.sql import Connection
from ragforge.adapters.stores.sqlite.threads import ThreadedDatabase
from ragforge.adapters.stores.sqlite.timeline import SqliteTimeline
from ragforge.adapters.stores.sqlite.vacuum import give_back, has_spare_pages
from ragforge.adapters.stores.sqlite.vectors import VectorSearch
from ragforge.adapters.stores.sqlite.work import SqliteJobs, SqliteLocks
from ragforge.domain.kinds import STORED, Redactor
from ragforge.domain.queries import Query, QueryResult
from ragforge.ports.search_index import Tokeniser
from ragforge.ports.store import Health, ReindexProgress, Store

MAX_PROBLEMS = 5
QUICK_SECONDS = 20.0
"""How long a large file is checked, unless a full check is wanted."""
_STEPS = 100_000  # of SQLite's virtual machine between two checks of the time


async def open_sqlite(
    path: str | Path, tokeniser: Tokeniser, redactor: Redactor, viewer: str | None = None
) -> Store:
    """Open the file, creating or upgrading it; one that may not be written is opened to be read.

    The viewer is the key of an author: what is private to others does not exist for them.
    Without one, everything is seen and may be changed: that is for administrators.
    Whatever is written loses its secrets.

    Raises a StoreUnavailable that says what is wrong with the file or its folder.
    """
    place = Path(path).expanduser().absolute()
    if is_locked(place):
        return await open_sqlite_to_read(place, tokeniser, viewer)
    schema = await asyncio.to_thread(prepare, place, tokeniser)
    database = ThreadedDatabase(place, redactor, viewer=viewer)
    try:
        await _begin_reindexing(database, tokeniser)
    except BaseException:
        await database.close()
        raise
    return build_store(database, tokeniser, schema)


async def open_sqlite_to_read(path: Path, tokeniser: Tokeniser, viewer: str | None) -> Store:
    """Open a file that is there without changing it. Readers wait for no writer.

    Raises StoreReadOnly if it would have to be upgraded first, and as `open_sqlite` does.
    """
    database = ThreadedDatabase(path, STORED, read_only=True, viewer=viewer)
    schema = await begin_reading(database)
    return build_store(database, tokeniser, schema)


def count_bytes(path: Path) -> int:
    """Return the size of a file and of what was written to its log and not yet into it."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def build_store(database: SqliteDatabase, tokeniser: Tokeniser, schema: int) -> Store:
    """Return the ports of an opened file."""
    vectors = VectorSearch(database.viewer)

    async def health(deep: bool = False, *, check: bool = True) -> Health:
        look = partial(find_problems, deep=deep)
        return Health(
            engine="sqlite",
            version=apsw.sqlite_lib_version(),
            location=str(database.path),
            schema=schema,
            problems=await database.read(look) if check else (),
            read_only=database.read_only,
            bytes=count_bytes(database.path),
        )

    async def query(query: Query) -> QueryResult:
        return await asyncio.to_thread(run_query, database.path, query)

    return Store(
        records=SqliteRecords(database, tokeniser),
        index=SqliteIndex(database, tokeniser, vectors),
        timeline=SqliteTimeline(database, tokeniser),
        code=SqliteCodeGraph(database, tokeniser, vectors),
        jobs=SqliteJobs(database),
        locks=SqliteLocks(database),
        archive=SqliteArchive(database, tokeniser),
        transcripts=SqliteTranscripts(database, tokeniser),
        health=health,
        query=query,
        upkeep=SqliteUpkeep(database, tokeniser),
        close=database.close,
        viewer=database.viewer,
        read_only=database.read_only,
    )


async def _begin_reindexing(database: SqliteDatabase, tokeniser: Tokeniser) -> None:
    """Start reindexing if another tokeniser made the words: upkeep does it, a piece at a time.

    A schema step that dropped the words leaves none: they are made at once, for nothing would be
    found meanwhile.
    """
    version = await database.read(words.read_tokeniser)
    if version != tokeniser.version:
        await database.write(lambda c: reindex.begin(c, tokeniser))
    while not version and await database.read(lambda c: reindex.is_due(c, tokeniser)):
        await database.write(lambda c: reindex.take_step(c, tokeniser))


def find_problems(db: Connection, deep: bool) -> tuple[str, ...]:
    """Return what is wrong with the file; `deep` checks everything, however long that takes.

    Otherwise the tables come first, then their indexes, until the time is over. What was not
    reached is not reported; what cannot be read is.
    """
    if deep:
        return _check(db, "integrity_check") or _find_broken_links(db)
    ends = time.monotonic() + QUICK_SECONDS
    db.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
    try:
        return _check(db, "quick_check") or _check(db, "integrity_check")
    except apsw.InterruptError:
        return ()
    finally:
        db.set_progress_handler(None)


def _check(db: Connection, how: str) -> tuple[str, ...]:
    try:
        found = db.column(f"PRAGMA {how}({MAX_PROBLEMS})")
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as error:
        return (str(error),)
    return tuple(str(problem) for problem in found if problem != "ok")


def _find_broken_links(db: Connection) -> tuple[str, ...]:
    try:
        broken = list(db.execute("PRAGMA foreign_key_check"))[:MAX_PROBLEMS]
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return (str(error),)
    return tuple(f"{row[0]} row {row[1]} refers to nothing in {row[2]}" for row in broken)


class SqliteUpkeep:
    """Implements `Upkeep`."""

    def __init__(self, database: SqliteDatabase, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def step(self) -> bool:
        database, tokeniser = self._database, self._tokeniser
        if database.read_only:
            return False
        if await database.read(lambda c: reindex.is_due(c, tokeniser)):
            await database.write(lambda c: reindex.take_step(c, tokeniser))
            return True
        if await database.read(has_spare_pages):
            if await database.write(_give_back):
                return True
            await database.shrink_log()  # the file itself gets smaller with that
        elif measure_log(database.path) > LOG_BYTES:
            await database.shrink_log()
        return False

    async def reindexing(self) -> ReindexProgress | None:
        return await self._database.read(reindex.read_progress)


def _give_back(db: Connection) -> bool:
    """Give some pages back; return whether more are left."""
    give_back(db)
    return has_spare_pages(db)
