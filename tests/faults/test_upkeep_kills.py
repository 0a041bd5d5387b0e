"""Upkeep that is killed at any moment: the file stays sound, and the next process continues."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragforge.adapters.stores.sqlite import migrate, reindex
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.adapters.stores.sqlite.vacuum import vacuum
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import CONVERSATION, TURN
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import conversation, exchange
from tests.unit.adapters.test_sqlite_upkeep import OlderWords, fill, ignore

TURNS = 100
ROUNDS = 4

REINDEX = """
import asyncio, sys
from ragforge.adapters.stores.sqlite import reindex
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
reindex.STEP_SECONDS = 0
async def main():
    store = await open_sqlite(sys.argv[1], WORDS, REDACTOR)
    for _ in range(2):
        await store.upkeep.step()
    print("begun", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
VACUUM = """
import asyncio, sys
from pathlib import Path
from ragforge.adapters.stores.sqlite.vacuum import vacuum
print("begun", flush=True)
asyncio.run(vacuum(Path(sys.argv[1]), lambda *_: None))
"""


def run_and_kill(program: str, path: Path, after: float) -> None:
    """Start a program on a store; kill it this many seconds after it has begun."""
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(after)
        process.kill()


async def test_words_are_reindexed_from_where_a_killed_process_was(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await open_sqlite(path, OlderWords(), REDACTOR)
    await fill(store, "c", TURNS)
    await store.close()

    run_and_kill(REINDEX, path, 0)

    store = await open_sqlite(path, WORDS, REDACTOR)
    progress = await store.upkeep.reindexing()
    assert progress is not None
    assert (progress.done, progress.total) == (2 * reindex.TOGETHER, TURNS)
    found = (
        await store.index.search(TURN, "parsing", None, MemoryFilter(), 1_000, read=0)
    ).by_words
    assert len(found) == TURNS
    while await store.upkeep.step():
        pass
    assert await store.upkeep.reindexing() is None
    assert (
        await store.index.search(TURN, "zzold", None, MemoryFilter(), 1_000, read=0)
    ).by_words == []
    found = (
        await store.index.search(TURN, "parsing", None, MemoryFilter(), 1_000, read=0)
    ).by_words
    assert len(found) == TURNS
    await store.close()


async def test_a_killed_vacuum_leaves_the_file_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    with monkeypatch.context() as earlier:  # a file that has to be rewritten
        earlier.setattr(migrate, "INCREMENTAL", 0)
        store = await open_sqlite(path, WORDS, REDACTOR)
    await fill(store, "kept", 1, 20_000_000)
    await fill(store, "deleted", 1, 5_000_000)
    await store.records.delete(CONVERSATION, "deleted")
    await store.close()

    for _ in range(ROUNDS):
        run_and_kill(VACUUM, path, random.uniform(0.0, 0.3))
        store = await open_sqlite(path, WORDS, REDACTOR)
        assert (await store.health(deep=True)).problems == ()
        assert len(await store.timeline.messages("kept")) == 2
        await store.close()

    await vacuum(path, ignore)
    assert path.stat().st_size < 22_000_000
    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="new"))
    await store.timeline.append("new", exchange("parsing", "yes"))
    assert (await store.health(deep=True)).problems == ()
    await store.close()
