"""The log next to a file: bounded while we read, truncated after another program's long read."""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite import database, threads
from ragforge.adapters.stores.sqlite import store as store_module
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import CONVERSATION, TURN
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import conversation, exchange

MERGE, SHRINK = 20, 100
WRITES = 60


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MERGE_PAGES", MERGE)
    monkeypatch.setattr(database, "SHRINK_PAGES", SHRINK)


async def test_the_log_stays_small_while_many_read_and_one_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "SHRINK_MS", 10_000)  # a slow machine reads slowly
    path = tmp_path / "store.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    done = asyncio.Event()

    async def read() -> None:
        while not done.is_set():
            await store.index.search(TURN, "answer", None, MemoryFilter(), 5, read=0)

    reading = [asyncio.create_task(read()) for _ in range(threads.READERS)]
    sizes = []
    for number in range(WRITES):
        turn = exchange(f"question {number}", "answer " * 2_000)
        await store.timeline.append("c", turn)
        sizes.append(database.measure_log(path))
    done.set()
    await asyncio.gather(*reading)

    one_write = 50 * database.PAGE_BYTES
    assert max(sizes) < SHRINK * database.PAGE_BYTES + 2 * one_write
    await store.close()


async def test_next_to_a_long_reader_few_writes_wait_for_it_and_upkeep_cuts_the_log_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = 0
    shrink = database.shrink_log

    def count_waits(connection: apsw.Connection, name: str = "main") -> bool:
        nonlocal waits
        waits += 1
        return shrink(connection, name)

    monkeypatch.setattr(database, "shrink_log", count_waits)
    monkeypatch.setattr(database, "SHRINK_MS", 1)
    monkeypatch.setattr(store_module, "LOG_BYTES", SHRINK * database.PAGE_BYTES)
    path = tmp_path / "store.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN; SELECT count(*) FROM message").fetchall()
    for number in range(WRITES):
        await store.timeline.append("c", exchange(f"question {number}", "yes"))
    pages = database.measure_log(path) // database.PAGE_BYTES
    assert pages > SHRINK
    assert waits <= pages / MERGE

    reader.close()
    await store.upkeep.step()

    assert database.measure_log(path) == 0
    await store.close()
