"""Bad files, folders and disks: a clear error, and nothing else changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite.migrate import SCHEMA
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import Message
from ragforge.domain.schema import CONVERSATION
from ragforge.errors import (
    SchemaTooNew,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import conversation, exchange, user

NOBODY = 65534


@contextmanager
def unprivileged() -> Iterator[None]:
    """Run as a user to whom file permissions apply: root may write anywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


async def filled(path: Path, turns: int = 3) -> None:
    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    for number in range(turns):
        await store.timeline.append("c", exchange(f"question {number}", "word " * 500))
    await store.close()


async def test_a_file_that_is_not_a_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes, not a database. " * 50)

    with pytest.raises(StoreCorrupt, match=r"notes\.txt is damaged or is not a RagForge store"):
        await open_sqlite(path, WORDS, REDACTOR)

    assert path.read_text() == "These are my notes, not a database. " * 50


async def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.db"
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE bookmark (url)")
    other.close()
    before = path.read_bytes()

    with pytest.raises(StoreCorrupt, match="an SQLite file, but not a RagForge store"):
        await open_sqlite(path, WORDS, REDACTOR)

    assert path.read_bytes() == before


async def test_damaged_pages_are_named_by_health_and_never_crash_a_search(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await filled(path, turns=200)
    data = bytearray(path.read_bytes())
    pages = len(data) // 4096
    for page in range(pages // 2, pages):  # the schema is at the front
        data[page * 4096 : page * 4096 + 64] = os.urandom(64)
    path.write_bytes(data)

    store = await open_sqlite(path, WORDS, REDACTOR)
    health = await store.health()
    with pytest.raises(StoreCorrupt, match="ragforge store repair"):
        await store.timeline.messages("c")
    await store.close()

    assert health.problems


async def test_a_store_of_the_future_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await filled(path)
    later = apsw.Connection(str(path))
    later.pragma("user_version", 999)
    later.close()
    before = path.read_bytes()

    with pytest.raises(SchemaTooNew, match=r"has schema 999.*Upgrade RagForge") as caught:
        await open_sqlite(path, WORDS, REDACTOR)

    assert (caught.value.found, caught.value.known) == (999, SCHEMA)
    assert path.read_bytes() == before


async def test_a_read_only_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    let_others_pass(tmp_path)
    folder.chmod(0o555)

    with (
        unprivileged(),
        pytest.raises(StoreUnavailable, match=r"locked/store\.db cannot be opened"),
    ):
        await open_sqlite(folder / "store.db", WORDS, REDACTOR)
    with unprivileged(), pytest.raises(StoreReadOnly, match="locked/new cannot be created"):
        await open_sqlite(folder / "new" / "store.db", WORDS, REDACTOR)

    assert list(folder.iterdir()) == []


async def test_a_read_only_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await filled(path)
    let_others_pass(tmp_path)
    path.chmod(0o444)
    before = path.read_bytes()

    async def open_and_write() -> None:
        store = await open_sqlite(path, WORDS, REDACTOR)
        try:
            await store.records.put(CONVERSATION, conversation(uuid="d"))
        finally:
            await store.close()

    with unprivileged(), pytest.raises(StoreUnavailable, match=r"store\.db cannot be"):
        await open_and_write()

    assert path.read_bytes() == before


async def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        await open_sqlite(tmp_path, WORDS, REDACTOR)


async def test_a_full_disk_fails_one_write_and_keeps_everything_before_it(small_disk: Path) -> None:
    path = small_disk / "store.db"
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(200_000))
    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    stored = 0

    async def write_on() -> None:
        nonlocal stored
        while True:
            await store.timeline.append("c", [Message("user", f"{stored} " + "x" * 20_000)])
            stored += 1

    with pytest.raises(StoreFull, match="Make room, try again"):
        await write_on()

    assert stored > 0
    assert len(await store.timeline.messages("c")) == stored
    assert (await store.records.get(CONVERSATION, "c")).message_count == stored

    ballast.unlink()
    await store.timeline.append("c", [Message("user", "there is room again")])
    assert len(await store.timeline.messages("c")) == stored + 1
    assert (await store.health()).problems == ()
    await store.close()


def let_others_pass(folder: Path) -> None:
    """Let everyone reach a folder that pytest made only for root."""
    for place in (folder, *folder.parents):
        if place.stat().st_mode & 0o005 != 0o005:
            place.chmod(0o755)


async def test_a_text_that_damage_made_unreadable_is_reported_as_damage(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [user("hello")])
    await store.close()
    file = apsw.Connection(str(path))
    file.execute("UPDATE message SET content = CAST(x'68ff6c' AS TEXT)")
    file.close()

    damaged = await open_sqlite(path, WORDS, REDACTOR)
    with pytest.raises(StoreCorrupt, match="ragforge store repair"):
        await damaged.timeline.messages("c")
    await damaged.close()
