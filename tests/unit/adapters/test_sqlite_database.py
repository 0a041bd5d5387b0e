"""The readers of a database: a read that no caller waits for any more is stopped."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite.threads import READERS, ThreadedDatabase
from ragforge.domain.kinds import STORED

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


async def test_an_abandoned_read_is_interrupted_and_nothing_waits_behind_it(
    tmp_path: Path,
) -> None:
    database = ThreadedDatabase(tmp_path / "a.db", STORED)
    begun = [threading.Event() for _ in range(READERS)]

    def endless(event: threading.Event, connection: apsw.Connection) -> object:
        event.set()
        return connection.execute(ENDLESS).fetchall()

    reads = [
        asyncio.create_task(database.read(lambda c, e=event: endless(e, c)))  # type: ignore[misc]
        for event in begun
    ]
    for event in begun:
        await asyncio.to_thread(event.wait)
    for read in reads:
        read.cancel()
    await asyncio.gather(*reads, return_exceptions=True)

    assert await database.read(lambda c: c.execute("SELECT 1").fetchall()) == [(1,)]
    await database.close()  # which waits for all readers


async def test_the_next_read_on_the_same_connection_is_not_interrupted(tmp_path: Path) -> None:
    database = ThreadedDatabase(tmp_path / "a.db", STORED)
    for _ in range(50):
        read = asyncio.create_task(database.read(lambda c: c.execute("SELECT 1").fetchall()))
        await asyncio.sleep(0)
        read.cancel()
        with pytest.raises(asyncio.CancelledError):
            await read
        assert await database.read(lambda c: c.execute("SELECT 2").fetchall()) == [(2,)]
    await database.close()


async def test_an_abandoned_read_between_two_statements_ends_too(tmp_path: Path) -> None:
    database = ThreadedDatabase(tmp_path / "a.db", STORED)
    begun, given_up = threading.Event(), threading.Event()

    def pause(connection: apsw.Connection) -> object:
        begun.set()
        given_up.wait()
        return connection.execute(ENDLESS).fetchall()

    read = asyncio.create_task(database.read(pause))
    await asyncio.to_thread(begun.wait)
    read.cancel()
    await asyncio.gather(read, return_exceptions=True)
    given_up.set()

    await database.close()  # which waits for all readers
    assert read.cancelled()
