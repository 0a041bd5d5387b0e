"""Many processes on one file: nothing fails, nothing is lost, nothing is reordered."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import CONVERSATION, TURN
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.conftest import Effort
from tests.fakes.builders import conversation

WRITERS = 6
MESSAGES = (200, 5_000)
"""How many each of them writes without --thorough, and with it."""


def start(kind: str, store: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.faults.writer", kind, str(store), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.timeout(900)
async def test_six_processes_write_thousands_of_messages_while_others_read(
    tmp_path: Path, effort: Effort
) -> None:
    count = effort(*MESSAGES)
    path = tmp_path / "store.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    for name in ("shared", *(f"own-{n}" for n in range(3))):
        await store.records.put(CONVERSATION, conversation(uuid=name))
    # Three writers share a conversation, three each have their own.
    places = ["shared", "shared", "shared", "own-0", "own-1", "own-2"]
    writers = [
        start("messages", path, place, f"writer-{n}", str(count)) for n, place in enumerate(places)
    ]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        for place in set(places):
            newest = await store.timeline.messages(place, limit=50, newest=True)
            positions = [message.position for message in newest]
            assert positions == sorted(set(positions))
        await store.index.search(TURN, "writer 17", None, MemoryFilter(), 5, read=0)
        reads += 1
        await asyncio.sleep(0.05)

    assert [(writer.returncode, writer.communicate()[1]) for writer in writers] == [(0, "")] * 6
    assert reads > 0
    for place in set(places):
        stored = await store.timeline.messages(place)
        names = [f"writer-{n}" for n, chosen in enumerate(places) if chosen == place]
        assert [message.position for message in stored] == list(range(count * len(names)))
        for name in names:
            said = [m.content for m in stored if m.content.startswith(f"{name} ")]
            assert said == [f"{name} {number}" for number in range(count)]
        about = await store.records.get(CONVERSATION, place)
        assert about.message_count == count * len(names)
        assert about.turn_count == count * len(names) // 2
        assert about.total_chars == sum(len(message.content) for message in stored)
    await store.close()
    assert apsw.Connection(str(path)).pragma("integrity_check") == "ok"


async def test_a_writer_waits_for_a_process_that_holds_the_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    code = (
        "import apsw, sys, time; c = apsw.Connection(sys.argv[1]); c.execute('BEGIN IMMEDIATE');"
        "print('held', flush=True); time.sleep(2); c.execute('ROLLBACK')"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"

    writer = start("messages", path, "c", "patient", "2")
    during = await store.timeline.messages("c")

    assert writer.communicate(timeout=60) == ("", "")
    holder.communicate()
    assert during == []
    assert len(await store.timeline.messages("c")) == 2
    await store.close()
