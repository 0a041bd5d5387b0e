"""Database: one SQLite file, its connections and its transactions."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import apsw

from ragforge.adapters.stores.sqlite.failures import translate_errors
from ragforge.adapters.stores.sqlite.sql import Connection
from ragforge.adapters.stores.sqlite.visibility import hide_others
from ragforge.domain.kinds import Redactor
from ragforge.errors import SchemaTooNew, SchemaTooOld, StoreCorrupt

T = TypeVar("T")

log = logging.getLogger(__name__)

BUSY_MS = 30_000
SYNCHRONOUS = "FULL"
"""How a commit waits for the disk: an acknowledged message survives a power cut."""
WRITER_CACHE_KB = 32_000
"""A batch of scopes or relations touches pages all over its indexes: they are read once."""
MERGE_PAGES = 1_000
"""A log with this many pages is merged into the file after a write."""
SHRINK_PAGES = 8_000
"""At this many, a write waits a moment for overlapping readers, and truncates the log."""
SHRINK_MS = 200
PAGE_BYTES = 4_096
LOG_BYTES = SHRINK_PAGES * PAGE_BYTES
"""A larger log that could not be truncated is cut to this size when it restarts."""


APPLICATION_ID = 0x52464747
"""Tells a RagForge store from any other SQLite file."""

SCHEMA = 26
"""The number of the newest schema: that of the last step, and of `schema.sql`."""


class SqliteDatabase:
    """Runs functions over connections, each in one transaction, in the calling thread.

    A process with a single query needs neither threads nor an event loop.
    """

    def __init__(
        self, path: Path, redactor: Redactor, *, read_only: bool = False, viewer: str | None = None
    ) -> None:
        self.path = path
        self.redactor = redactor  # applied to all that is written
        self.viewer = viewer  # the key of the reading user; None: an administrator, who sees all
        self.read_only = read_only
        self._connections: dict[int | None, Connection] = {}  # by reader; None: the writer

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run work in a transaction that is durable when this returns."""
        return self._write(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run work over one unchanging view of the data."""
        with translate_errors(str(self.path)):
            return self._read(work, self._get_connection(0))

    async def shrink_log(self) -> bool:
        """Merge the log into the file and cut it to nothing; return whether that was possible."""
        return self._shrink_log()

    async def close(self) -> None:
        self._close()

    def _write(self, work: Callable[[Connection], T]) -> T:
        with translate_errors(str(self.path)):
            connection = self._get_connection(None)
            # IMMEDIATE: a deferred transaction that starts to write fails at once if
            # another process has written meanwhile, whatever the timeout.
            connection.execute("BEGIN IMMEDIATE")
            return _finish(connection, work)

    def _read(self, work: Callable[[Connection], T], connection: Connection) -> T:
        connection.execute("BEGIN")
        return _finish(connection, work)

    def _shrink_log(self) -> bool:
        with translate_errors(str(self.path)):
            return shrink_log(self._get_connection(None))

    def _get_connection(self, reader: int | None) -> Connection:
        """Return the connection of a reader, or of the writer."""
        if reader not in self._connections:
            connection = open_for_reading(self.path) if self.read_only else connect(self.path)
            if reader is None:
                connection.pragma("cache_size", -WRITER_CACHE_KB)
            else:
                hide_others(connection, self.viewer)
            self._connections[reader] = connection
        return self._connections[reader]

    def _close(self) -> None:
        for connection in self._connections.values():
            connection.close()


def connect(path: Path) -> Connection:
    """Open a connection as every part of RagForge uses it."""
    connection = Connection(str(path))
    connection.set_busy_timeout(BUSY_MS)
    connection.pragma("foreign_keys", True)
    connection.pragma("synchronous", SYNCHRONOUS)
    connection.pragma("temp_store", "MEMORY")
    connection.pragma("journal_size_limit", LOG_BYTES)
    connection.set_wal_hook(_LogMerger().merge)
    return connection


def open_for_reading(path: Path) -> Connection:
    """Open a connection that cannot write, even where no file may be created next to the store."""
    place = f"file:{quote(str(path))}"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = Connection(f"{place}?mode=ro", flags=flags)
    connection.set_busy_timeout(BUSY_MS)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        if measure_log(path):  # without it, the last writes would be missing
            raise
        connection = Connection(f"{place}?mode=ro&immutable=1", flags=flags)
    connection.pragma("temp_store", "MEMORY")
    return connection


def measure_log(path: Path) -> int:
    """Return the size of a file's log in bytes; 0 if there is none."""
    try:
        return os.path.getsize(f"{path}-wal")
    except OSError:
        return 0


def shrink_log(connection: apsw.Connection, name: str = "main") -> bool:
    """Merge the log into the file and cut it to nothing; wait a moment for those who read it.

    Returns whether that was possible: a log stays while a reader uses an older state.
    """
    connection.set_busy_timeout(SHRINK_MS)
    try:
        connection.wal_checkpoint(name, apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(BUSY_MS)
    return True


class _LogMerger:
    """Keeps the log small: with overlapping readers it would grow without limit."""

    _tried = 0  # the pages it had when it could not be cut

    def merge(self, connection: apsw.Connection, name: str, pages: int) -> int:
        """Merge the log after a write that left it with this many pages."""
        if pages < MERGE_PAGES:
            self._tried = 0
            return apsw.SQLITE_OK
        try:
            found, merged = connection.wal_checkpoint(name, apsw.SQLITE_CHECKPOINT_PASSIVE)
            # During one long read, every write would wait in vain.
            is_worth_waiting = merged == found or pages >= self._tried + MERGE_PAGES
            if pages >= SHRINK_PAGES and is_worth_waiting:
                self._tried = 0 if shrink_log(connection, name) else pages
        except apsw.Error as error:  # the write itself is durable already
            log.debug("The log of the store is merged later: %s", error)
        return apsw.SQLITE_OK


def _finish(connection: Connection, work: Callable[[Connection], T]) -> T:
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has already rolled back on some errors, a full disk among them.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


async def begin_reading(database: SqliteDatabase) -> int:
    """Return the schema number of a file that is only read; a file that cannot be is closed.

    Raises as `check_readable` does.
    """
    try:
        return await database.read(lambda c: check_readable(c, database.path))
    except BaseException:
        await database.close()
        raise


def check_readable(connection: Connection, path: Path) -> int:
    """Return the schema number of a file that is only read.

    Raises SchemaTooNew, StoreCorrupt, or SchemaTooOld if it would have to be upgraded first.
    """
    check_format(connection, path)
    schema = read_schema(connection)
    if schema != SCHEMA:
        raise SchemaTooOld(
            f"{path} has schema {schema} and must be upgraded to {SCHEMA}, but it cannot be "
            "written to. Copy the file to a folder of yours and name it with --store."
        )
    return schema


def check_format(connection: Connection, path: Path) -> None:
    """Raise StoreCorrupt if this is not a store, SchemaTooNew if a newer RagForge wrote it."""
    is_empty = connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
    if not is_empty and connection.pragma("application_id") != APPLICATION_ID:
        raise StoreCorrupt(f"{path} is an SQLite file, but not a RagForge store. Choose another.")
    if read_schema(connection) > SCHEMA:
        raise SchemaTooNew(str(path), read_schema(connection), SCHEMA)


def read_schema(connection: Connection) -> int:
    """Return the number of a file's schema; 0 for an empty one."""
    return int(str(connection.pragma("user_version")))
