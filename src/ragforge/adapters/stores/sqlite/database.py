"""Database: one SQLite file, a writer, and readers that never wait for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from ragforge.adapters.stores.sqlite.failures import translate_errors

T = TypeVar("T")

BUSY_MS = 30_000
READERS = 4
WRITER_CACHE_KB = 32_000
"""A batch of scopes or relations touches pages all over its indexes: they are read once."""


class _Query:
    """Work that a reader does, and the connection on which it runs now."""

    connection: apsw.Connection | None = None
    is_stopped = False

    def begin(self, connection: apsw.Connection) -> None:
        """Take note of the connection. Raises InterruptError if nobody waits any more."""
        self.connection = connection
        if self.is_stopped:
            raise apsw.InterruptError("nobody waits for it any more")

    def stop(self) -> None:
        """Interrupt it, so that those who wait behind it need not wait for nothing."""
        self.is_stopped = True
        if self.connection is not None:
            self.connection.interrupt()


class Database:
    """Runs functions over connections in threads, each in one transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._opened: list[apsw.Connection] = []
        self._writing = ThreadPoolExecutor(1, "ragforge-write")
        self._readers = [ThreadPoolExecutor(1, "ragforge-read") for _ in range(READERS)]
        self._reading = [0] * READERS  # how much each of them has to do
        self._changing = threading.Lock()  # held while one begins, ends or is stopped

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work in a transaction that is durable when this returns."""
        return await asyncio.get_running_loop().run_in_executor(self._writing, self._write, work)

    async def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work over one unchanging view of the data; whoever is cancelled stops it."""
        query = _Query()
        with self._changing:
            # Of those who have least to do always the first: it remembers what it has read.
            number = self._reading.index(min(self._reading))
            self._reading[number] += 1
        running = self._readers[number].submit(self._read, work, query)
        running.add_done_callback(lambda _: self._done(number))
        try:
            return await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            with self._changing:
                query.stop()
            raise

    def _done(self, number: int) -> None:
        with self._changing:
            self._reading[number] -= 1

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    def _write(self, work: Callable[[apsw.Connection], T]) -> T:
        with translate_errors(str(self.path)):
            connection = self._connection(WRITER_CACHE_KB)
            # IMMEDIATE: a deferred transaction that turns to writing fails at once when
            # another process has written meanwhile, however long one is ready to wait.
            connection.execute("BEGIN IMMEDIATE")
            return _finish(connection, work)

    def _read(self, work: Callable[[apsw.Connection], T], query: _Query) -> T:
        with translate_errors(str(self.path)):
            connection = self._connection()
            with self._changing:
                query.begin(connection)
            try:
                connection.execute("BEGIN")
                return _finish(connection, work)
            finally:
                with self._changing:
                    query.connection = None

    def _connection(self, cache_kb: int | None = None) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self.path)
            if cache_kb is not None:
                connection.pragma("cache_size", -cache_kb)
            self._local.connection = connection
            self._opened.append(connection)
        return connection

    def _close(self) -> None:
        self._writing.shutdown()
        for reader in self._readers:
            reader.shutdown()
        for connection in self._opened:
            connection.close()


def connect(path: Path) -> apsw.Connection:
    """Open a connection as every part of RagForge uses it."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(BUSY_MS)
    connection.pragma("foreign_keys", True)
    connection.pragma("synchronous", "FULL")  # an acknowledged message outlives a power cut
    connection.pragma("temp_store", "MEMORY")
    return connection


def _finish(connection: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has already rolled back on some errors, a full disk among them.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result
