"""Upkeep of a file: words indexed again in steps, and space that is freed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite import database, migrate, reindex, vacuum
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.notes import NoteFilter
from ragforge.domain.schema import CONVERSATION, NOTE, PROJECT, TURN
from ragforge.errors import StoreBusy, StoreFull
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import ReindexProgress, Store
from ragforge.search.words.tokenise import WORDS, Words
from tests.fakes.builders import conversation, exchange, note, parsed, project, scope, summary

TURNS = 50


class OlderWords(Words):
    """An earlier tokeniser, which gave every text one word more."""

    version = "older"

    def prose(self, text: str) -> str:
        return f"{super().prose(text)} zzold"


def ignore(*_: object) -> None:
    """Ignore the progress."""


async def count_found(store: Store, word: str) -> int:
    return len((await store.index.search(TURN, word, None, MemoryFilter(), 1_000, read=0)).by_words)


async def finish(store: Store) -> int:
    """Do all that is due; return the number of steps."""
    steps = 1
    while await store.upkeep.step():
        steps += 1
    return steps


async def fill(store: Store, name: str, turns: int, letters: int = 0) -> None:
    await store.records.put(CONVERSATION, conversation(uuid=name))
    for number in range(turns):
        answer = os.urandom(letters // 2).hex()
        await store.timeline.append(name, exchange(f"parsing header {number}", answer))


@pytest.fixture
async def older(tmp_path: Path) -> Path:
    """A store whose words an earlier tokeniser made."""
    path = tmp_path / "store.db"
    store = await open_sqlite(path, OlderWords(), REDACTOR)
    await fill(store, "c", TURNS)
    await store.timeline.save_summary(summary("c", uuid="s"))
    await store.records.put(NOTE, note("We deploy on Fridays."))
    await store.records.put(PROJECT, project(uuid="shop"))
    await store.code.replace_files("shop", [parsed("a.py", scope("total"))])
    await store.close()
    return path


@pytest.fixture
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reindex, "STEP_SECONDS", 0)


async def test_texts_are_found_before_while_and_after_they_are_reindexed(
    older: Path, short_steps: None
) -> None:
    store = await open_sqlite(older, WORDS, REDACTOR)
    everything = TURNS + 3
    assert await store.upkeep.reindexing() == ReindexProgress(0, everything)
    assert await count_found(store, "parsing") == TURNS

    assert await store.upkeep.step()
    assert await store.upkeep.reindexing() == ReindexProgress(reindex.TOGETHER, everything)
    assert await count_found(store, "parsing") == TURNS
    assert await count_found(store, "zzold") == TURNS - reindex.TOGETHER
    await store.timeline.append("c", exchange("parsing trailers", "yes"))
    assert await count_found(store, "parsing") == TURNS + 1
    assert await count_found(store, "trailers") == 1

    await finish(store)
    assert await store.upkeep.reindexing() is None
    assert await count_found(store, "parsing") == TURNS + 1
    assert await count_found(store, "zzold") == 0
    assert (await store.index.search(NOTE, "fridays", None, NoteFilter(), 5)).by_words
    assert not (await store.index.search(NOTE, "zzold", None, NoteFilter(), 5)).by_words
    await store.close()


async def test_another_process_continues_where_one_stopped(older: Path, short_steps: None) -> None:
    first = await open_sqlite(older, WORDS, REDACTOR)
    await first.upkeep.step()
    await first.close()

    second = await open_sqlite(older, WORDS, REDACTOR)
    assert await second.upkeep.reindexing() == ReindexProgress(reindex.TOGETHER, TURNS + 3)
    await finish(second)
    assert await count_found(second, "zzold") == 0
    await second.close()
    third = await open_sqlite(older, WORDS, REDACTOR)
    assert await third.upkeep.reindexing() is None
    assert not await third.upkeep.step()
    await third.close()


async def test_two_programs_with_different_tokenisers_do_not_undo_each_others_work(
    older: Path, short_steps: None
) -> None:
    class Newest(OlderWords):
        version = "newest"

    store = await open_sqlite(older, WORDS, REDACTOR)
    await store.upkeep.step()
    newest = await open_sqlite(older, Newest(), REDACTOR)

    assert not await store.upkeep.step()  # who came last decides
    await finish(newest)

    assert await newest.upkeep.reindexing() is None
    assert not await store.upkeep.step()
    assert await count_found(newest, "zzold") == TURNS
    await newest.close()
    await store.close()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    await fill(store, "large", 1, 5_000_000)  # 1,200 pages and more: they go in several pieces
    await fill(store, "small", 3)
    yield store
    await store.close()


async def test_a_file_gets_smaller_after_a_deletion_without_being_asked(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    await finish(store)
    before = path.stat().st_size + database.measure_log(path)

    await store.records.delete(CONVERSATION, "large")
    assert await finish(store) > 1  # a piece at a time

    after = path.stat().st_size + database.measure_log(path)
    assert before > 2_000_000
    assert after < before / 2
    assert await count_found(store, "parsing") == 3
    assert (await store.health(deep=True)).problems == ()


@pytest.fixture
async def rigid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of an earlier version, which frees no page, after a large deletion."""
    path = tmp_path / "rigid.db"
    with monkeypatch.context() as earlier:
        earlier.setattr(migrate, "INCREMENTAL", 0)
        store = await open_sqlite(path, WORDS, REDACTOR)
    await fill(store, "large", 1, 3_000_000)
    await fill(store, "small", 3)
    await store.records.delete(CONVERSATION, "large")
    assert not await store.upkeep.step()
    await store.close()
    return path


async def test_a_file_of_an_earlier_version_is_rewritten_next_to_a_reader(rigid: Path) -> None:
    seen = apsw.Connection(str(rigid))
    seen.execute("BEGIN")
    turns = "SELECT count(*) FROM turn"
    assert seen.execute(turns).get == 3
    before = rigid.stat().st_size

    report = await vacuum.vacuum(rigid, ignore)

    assert report.is_delayed  # the reader still needs the old pages
    assert seen.execute(turns).get == 3
    seen.execute("COMMIT")
    assert seen.execute(turns).get == 3
    seen.close()
    report = await vacuum.vacuum(rigid, ignore)
    assert not report.is_delayed
    assert rigid.stat().st_size < before / 2
    store = await open_sqlite(rigid, WORDS, REDACTOR)
    await fill(store, "again", 1, 3_000_000)
    await store.records.delete(CONVERSATION, "again")
    await finish(store)  # from now on it frees space by itself
    await store.close()
    assert rigid.stat().st_size < before / 2


async def test_a_vacuum_says_how_far_it_is_and_what_it_freed(rigid: Path) -> None:
    seen: list[tuple[int, int]] = []

    report = await vacuum.vacuum(rigid, lambda done, total: seen.append((done, total)))

    assert report.given_back > 1_000_000
    assert report.after == rigid.stat().st_size
    assert all(done <= total for done, total in seen)
    assert seen[-1][0] == seen[-1][1]
    assert (await vacuum.vacuum(rigid, ignore)).given_back == 0


async def test_a_vacuum_names_another_process_that_writes(
    rigid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_MS", 50)
    writing = apsw.Connection(str(rigid))
    writing.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreBusy, match="is in use: another process has been writing"):
        await vacuum.vacuum(rigid, ignore)

    writing.close()


async def test_a_vacuum_begins_nothing_that_the_disk_has_no_room_for(
    rigid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = rigid.stat().st_size
    monkeypatch.setattr(vacuum, "measure_free", lambda _: 4_096)

    with pytest.raises(StoreFull, match=r"MB must be free on its disk for a while; 0 MB are"):
        await vacuum.vacuum(rigid, ignore)

    assert rigid.stat().st_size == size
