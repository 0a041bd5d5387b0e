"""A SQLite store for a process that asks once: no event loop, and ports that load when used."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite.asking import open_sqlite_to_ask
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.concurrency import run_without_loop
from ragforge.domain.kinds import STORED
from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.schema import NOTE
from ragforge.errors import StoreReadOnly
from ragforge.search.words.tokenise import WORDS

SAID = Note("The port is 8080.", "/shop")


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    store = await open_sqlite(tmp_path / "store.db", WORDS, STORED)
    await store.records.put(NOTE, SAID)
    await store.close()
    return tmp_path / "store.db"


def test_it_answers_without_an_event_loop(path: Path) -> None:
    async def ask() -> list[str]:
        store = await open_sqlite_to_ask(path, WORDS, "ann@example.org")
        found = await store.index.search(NOTE, "port", None, NoteFilter(), 5)
        await store.close()
        return [note.text for note in found.items.values()]

    assert run_without_loop(ask()) == [SAID.text]


async def test_it_has_every_port_and_none_of_them_writes(path: Path) -> None:
    store = await open_sqlite_to_ask(path, WORDS, None)

    assert (await store.health()).read_only
    assert await store.timeline.turns([]) == {}
    assert await store.code.file_paths("nosuch") == []
    assert not any((await store.jobs.count()).by_status.values())
    with pytest.raises(StoreReadOnly):
        await store.records.put(NOTE, SAID)

    await store.close()


async def test_a_file_of_an_older_schema_is_refused(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 1)
    connection.close()

    with pytest.raises(StoreReadOnly, match="has schema 1 and must be upgraded"):
        await open_sqlite_to_ask(path, WORDS, None)
