"""Threads: a database with a writer, and readers that never wait for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from ragforge.adapters.stores.sqlite.database import SqliteDatabase
from ragforge.adapters.stores.sqlite.failures import translate_errors
from ragforge.adapters.stores.sqlite.sql import Connection
from ragforge.domain.kinds import Redactor

T = TypeVar("T")

READERS = 4
STEPS = 100_000
"""How many steps of SQLite's virtual machine pass before a read checks whether it was cancelled."""


class ThreadedDatabase(SqliteDatabase):
    """Runs functions over connections in threads, each in one transaction."""

    def __init__(
        self, path: Path, redactor: Redactor, *, read_only: bool = False, viewer: str | None = None
    ) -> None:
        super().__init__(path, redactor, read_only=read_only, viewer=viewer)
        self._writing = ThreadPoolExecutor(1, "ragforge-write")
        self._readers = [ThreadPoolExecutor(1, "ragforge-read") for _ in range(READERS)]
        self._reading = [0] * READERS  # the number of reads that each has to do
        self._changing = threading.Lock()  # held while a read begins or ends

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writing, self._write, work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Do as `SqliteDatabase`; cancelling the caller stops the work."""
        given_up = threading.Event()
        with self._changing:
            # The first of the least busy ones: its cache is warm.
            number = self._reading.index(min(self._reading))
            self._reading[number] += 1
        running = self._readers[number].submit(self._read_until, given_up, work, number)
        running.add_done_callback(lambda _: self._done(number))
        try:
            return await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            given_up.set()
            raise

    async def shrink_log(self) -> bool:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writing, self._shrink_log)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    def _read_until(
        self, given_up: threading.Event, work: Callable[[Connection], T], reader: int
    ) -> T:
        with translate_errors(str(self.path)):
            connection = self._get_connection(reader)
            if given_up.is_set():
                raise apsw.InterruptError("the caller was cancelled")
            # The next reads must not wait for nothing. SQLite's own interrupt is lost between two
            # statements.
            connection.set_progress_handler(given_up.is_set, STEPS)
            try:
                return self._read(work, connection)
            finally:
                connection.set_progress_handler(None)

    def _done(self, number: int) -> None:
        with self._changing:
            self._reading[number] -= 1

    def _close(self) -> None:
        self._writing.shutdown()
        for reader in self._readers:
            reader.shutdown()
        super()._close()
