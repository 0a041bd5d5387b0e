"""Maintaining a store: copies and backups while it is used, and recovery of a damaged one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.app.features.doctor import check_store
from ragforge.app.wiring.stores import back_up_store, copy_store, open_store, repair_store
from ragforge.config import Settings
from ragforge.config.settings import StoreSettings
from ragforge.domain.conversations import ConversationFilter
from ragforge.domain.notes import Note
from ragforge.domain.schema import CONVERSATION, NOTE, TURN
from ragforge.errors import InputError, StoreCorrupt, StoreReadOnly
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import conversation, direction, exchange
from tests.fakes.copying import everything
from tests.fakes.engines import Engines
from tests.fakes.rich import fill
from tests.faults.test_bad_files import let_others_pass, unprivileged

PAGE_BYTES = 4096


def settings_of(path: Path) -> Settings:
    return Settings(store=StoreSettings(url=str(path)))


def ignore(*_: object) -> None:
    """Ignore the progress."""


async def during_writes(store: Store, work: Callable[[], Awaitable[object]]) -> int:
    """Do something while turns and vectors come; return how many did."""
    written = 0
    done = asyncio.Event()

    async def write() -> None:
        nonlocal written
        while not done.is_set() or written < 3:
            name = f"during-{written}"
            await store.records.put(CONVERSATION, conversation(uuid=name))
            [asked, _] = await store.timeline.append(name, exchange("a question", "yes"))
            await store.index.embed(TURN, {asked.uuid: direction(1)})
            written += 1

    writing = asyncio.create_task(write())
    try:
        await work()
    finally:
        done.set()
        await writing
    return written


async def check_whole(path: Path) -> set[str]:
    """Check that each session of a store has all its messages; return their ids."""
    store = await open_sqlite(path, WORDS, REDACTOR)
    try:
        assert (await store.health(deep=True)).problems == ()
        found = await store.records.find(CONVERSATION, ConversationFilter(), 10_000)
        for one in found:
            assert len(await store.timeline.messages(one.uuid)) == one.message_count
        return {one.uuid for one in found}
    finally:
        await store.close()


async def test_a_store_in_use_is_copied_as_it_was_at_one_moment(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    await fill(store)
    before = {one.uuid for one in await store.records.find(CONVERSATION, ConversationFilter())}
    target = tmp_path / "copy.db"

    async def copy() -> None:
        await copy_store(str(store_path), str(target), settings_of(store_path), ignore)

    store_path = tmp_path / "store.db"
    assert await during_writes(store, copy)
    await store.close()

    assert await check_whole(target) >= before


async def test_a_copy_that_was_interrupted_is_finished_although_the_source_changed(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragforge.memory import store_copy as transfer

    monkeypatch.setattr(transfer, "PAGE", 2)
    source = await engines.empty("sqlite")
    await fill(source)
    target = await engines.open_at(str(tmp_path / "target.db"))
    for kinds in (2, 5, 14):  # it breaks off after some kinds; then the source gets more of each
        seen: set[str] = set()

        def break_off(
            step: transfer.CopyProgress, seen: set[str] = seen, maximum: int = kinds
        ) -> None:
            seen.add(step.kind)
            if len(seen) > maximum:
                raise RuntimeError("broken off")

        with pytest.raises(RuntimeError):
            await transfer.copy_store(source.archive, target.archive, "copy", break_off)
        name = f"0-came-later-{kinds}"
        await source.records.put(CONVERSATION, conversation(uuid=name))
        [asked, _] = await source.timeline.append(name, exchange("a question", "yes"))
        await source.index.embed(TURN, {asked.uuid: direction(1)})

        report = await transfer.copy_store(source.archive, target.archive, "copy", ignore)

        assert report.resumed
        assert await everything(target) == await everything(source)


async def test_a_backup_is_one_private_file_while_others_write(tmp_path: Path) -> None:
    path, target = tmp_path / "store.db", tmp_path / "backup.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    await fill(store)
    before = {one.uuid for one in await store.records.find(CONVERSATION, ConversationFilter())}

    assert await during_writes(store, lambda: back_up_store(settings_of(path), target, ignore))
    await store.close()

    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["backup.db", "store.db"]
    assert await check_whole(target) >= before
    with pytest.raises(InputError, match=r"backup\.db exists already"):
        await back_up_store(settings_of(path), target, ignore)


@pytest.mark.neo4j
async def test_a_server_is_backed_up_into_a_file(engines: Engines, tmp_path: Path) -> None:
    source = await engines.empty("neo4j")
    await fill(source)
    settings = Settings(store=StoreSettings(url=engines.location("neo4j")))

    await back_up_store(settings, tmp_path / "backup.db", ignore)

    copy = await engines.open_at(str(tmp_path / "backup.db"))
    assert await everything(copy) == await everything(source)


def pages_of(path: Path, table: str) -> list[int]:
    """Return the numbers of the pages that hold the rows of a table."""
    connection = apsw.Connection(str(path))
    statement = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno"
    found = [int(page) for (page,) in connection.execute(statement, (table,))]
    connection.close()
    return found


def damage(path: Path, pages: list[int]) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE_BYTES)
            file.write(os.urandom(PAGE_BYTES))


async def damaged_store(path: Path) -> None:
    store = await open_sqlite(path, WORDS, REDACTOR)
    for number in range(8):
        await store.records.put(CONVERSATION, conversation(uuid=f"c{number}"))
        for turn in range(4):
            await store.timeline.append(
                f"c{number}", exchange(f"question {turn}", f"answer {number} " * 200)
            )
    await store.records.put(NOTE, Note("tea, not coffee", str(path.parent)))
    await store.close()


async def test_what_can_be_read_of_a_damaged_store_is_saved_and_the_rest_is_named(
    tmp_path: Path,
) -> None:
    path, target = tmp_path / "store.db", tmp_path / "saved.db"
    await damaged_store(path)
    messages = pages_of(path, "message")
    damage(path, messages[len(messages) // 2 :][:2])
    before = path.read_bytes()

    report = await repair_store(settings_of(path), target, ignore)

    assert path.read_bytes() == before
    assert report.saved
    assert report.partly or report.lost
    assert sorted([*report.saved, *report.partly, *report.lost]) == [f"c{n}" for n in range(8)]
    assert report.notes == 1
    kept = await check_whole(target)
    assert kept == {*report.saved, *report.partly}
    store = await open_sqlite(target, WORDS, REDACTOR)
    for one in report.saved:
        assert len(await store.timeline.messages(one)) == 8
    await store.close()


async def test_a_damaged_list_of_sessions_costs_only_those_on_its_page(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await damaged_store(path)
    damage(path, pages_of(path, "turn_words_data") + pages_of(path, "vector"))

    report = await repair_store(settings_of(path), tmp_path / "saved.db", ignore)

    assert report.saved == [f"c{number}" for number in range(8)]
    assert (report.partly, report.lost, report.notes_lost) == ({}, [], False)


async def test_a_file_of_which_nothing_can_be_read_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await damaged_store(path)
    damage(path, [1])

    with pytest.raises(StoreCorrupt):
        await repair_store(settings_of(path), tmp_path / "saved.db", ignore)

    assert not (tmp_path / "saved.db").exists()


@pytest.mark.parametrize("kept", [0.6, 0.75, 0.9])
async def test_the_first_part_of_a_file_that_was_cut_off_is_saved(
    tmp_path: Path, kept: float
) -> None:
    path, target = tmp_path / "store.db", tmp_path / "saved.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    for number in range(40):
        await store.records.put(CONVERSATION, conversation(uuid=f"c{number}"))
        said = exchange("question", f"answer {number} " * 4_000)
        await store.timeline.append(f"c{number}", said)
    await store.close()
    os.truncate(path, int(kept * path.stat().st_size) + 17)  # in the middle of a page

    report = await repair_store(settings_of(path), target, ignore)

    named = {*report.saved, *report.partly, *report.lost}
    assert named == {f"c{number}" for number in range(40)}
    found = {*report.saved, *report.partly}
    assert len(found) > 40 * kept - 10
    assert await check_whole(target) >= found


async def test_notes_and_session_names_of_a_small_file_that_was_cut_off_are_saved(
    tmp_path: Path,
) -> None:
    path, target = tmp_path / "store.db", tmp_path / "saved.db"
    await damaged_store(path)
    first = pages_of(path, "sqlite_schema")[0]
    os.truncate(path, (first - 1) * PAGE_BYTES)  # what the tables are is lost

    report = await repair_store(settings_of(path), target, ignore)

    assert report.notes == 1
    assert {*report.partly, *report.lost} == {f"c{number}" for number in range(8)}


@pytest.mark.parametrize("kept", [0, 50, 3000])
async def test_a_file_of_which_nothing_is_left_is_named_and_not_the_copy_that_was_tried(
    tmp_path: Path, kept: int
) -> None:
    path = tmp_path / "store.db"
    await damaged_store(path)
    os.truncate(path, kept)

    with pytest.raises(StoreCorrupt) as raised:
        await repair_store(settings_of(path), tmp_path / "saved.db", ignore)

    assert str(path) in str(raised.value)
    assert "store repair" not in str(raised.value)
    assert "ragforge-repair-" not in str(raised.value)
    assert not (tmp_path / "saved.db").exists()


@pytest.mark.parametrize("table", ["message", "conversation", "turn", "file_text", "job"])
async def test_a_deep_look_notices_damage_wherever_it_is(tmp_path: Path, table: str) -> None:
    path = tmp_path / "store.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    await fill(store)
    await store.close()
    damage(path, pages_of(path, table)[:1])

    [found, *_] = await check_store(settings_of(path), open_store, deep=True)

    assert found.status == "fail"
    assert "ragforge store repair" in found.remedy


async def test_a_store_that_may_not_be_written_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    path = folder / "store.db"
    await damaged_store(path)
    let_others_pass(folder)
    path.chmod(0o444)
    folder.chmod(0o555)

    with unprivileged():
        store = await open_sqlite(path, WORDS, REDACTOR)
        try:
            assert store.read_only
            assert (await store.health()).read_only
            assert len(await store.timeline.messages("c3")) == 8
            with pytest.raises(StoreReadOnly, match="cannot be written to"):
                await store.records.put(CONVERSATION, conversation(uuid="d"))
        finally:
            await store.close()

    assert [file.name for file in folder.iterdir()] == ["store.db"]


async def test_a_store_whose_schema_number_was_set_back_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await damaged_store(path)
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 3)
    connection.close()

    with pytest.raises(StoreCorrupt, match=r"changed its user_version.*ragforge store repair"):
        await open_sqlite(path, WORDS, REDACTOR)

    report = await repair_store(settings_of(path), tmp_path / "saved.db", ignore)
    assert len(report.saved) == 8


async def test_the_log_next_to_the_file_shrinks_again_after_a_long_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragforge.adapters.stores.sqlite import database

    monkeypatch.setattr(database, "MERGE_PAGES", 20)
    monkeypatch.setattr(database, "SHRINK_PAGES", 100)
    path = tmp_path / "store.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    log = tmp_path / "store.db-wal"
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN; SELECT count(*) FROM message").fetchall()
    for _ in range(20):
        await store.timeline.append("c", exchange("question", "answer " * 4_000))
    grown = log.stat().st_size
    reader.execute("COMMIT")

    for _ in range(3):
        await store.timeline.append("c", exchange("question", "answer"))

    assert log.stat().st_size < grown / 4
    reader.close()
    await store.close()
