"""Watch: real files change, and the right paths are reported."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from ragforge.brain.files import watch
from ragforge.brain.files.exclusions import FileLimits
from ragforge.brain.files.watch import watch_changes

Batches = AsyncIterator[frozenset[str]]
LAST = "the-last.py"


@pytest.fixture(autouse=True)
def no_thread_stays() -> Iterator[None]:
    yield
    assert not [thread for thread in threading.enumerate() if "ragforge-watch" in thread.name]


@asynccontextmanager
async def watching(root: Path, **options: Any) -> AsyncIterator[Batches]:
    stopping = asyncio.Event()
    batches = watch_changes(root, stopping, **{"quiet_ms": 100, **options})
    async with asyncio.timeout(60):
        assert await anext(batches) == frozenset()
        yield batches
        stopping.set()
        await drain(batches)


async def told(batches: Batches, *expected: str) -> set[str]:
    """Return all that is reported until nothing expected is missing."""
    paths: set[str] = set()
    while not paths.issuperset(expected):
        paths |= await anext(batches)
    return paths


async def drain(batches: Batches) -> None:
    async for _ in batches:
        pass


async def all_until_last(root: Path, batches: Batches) -> set[str]:
    """Write one more file, and return all that is reported before it."""
    (root / LAST).write_text("x")
    return await told(batches, LAST) - {LAST}


def make(root: Path, *paths: str, text: str = "x") -> None:
    for path in paths:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


async def test_a_file_is_reported_when_it_appears_changes_and_disappears(tmp_path: Path) -> None:
    make(tmp_path, "src/old.py")
    async with watching(tmp_path) as batches:
        make(tmp_path, "src/new.py")
        assert await anext(batches) == {"src/new.py"}

        make(tmp_path, "src/old.py", text="other")
        assert await anext(batches) == {"src/old.py"}

        (tmp_path / "src/new.py").unlink()
        assert await anext(batches) == {"src/new.py"}


async def test_what_happens_together_is_reported_together(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py", "c.py")
    async with watching(tmp_path, quiet_ms=1_500) as batches:
        make(tmp_path, "a.py", text="other")
        await asyncio.sleep(0.2)
        (tmp_path / "b.py").unlink()
        (tmp_path / "c.py").rename(tmp_path / "d.py")

        assert await anext(batches) == {"a.py", "b.py", "c.py", "d.py"}


async def test_changes_that_never_pause_are_reported_in_time(tmp_path: Path) -> None:
    async def keep_writing() -> None:
        while True:
            make(tmp_path, "busy.py", text=str(time.monotonic_ns()))
            await asyncio.sleep(0.02)

    async with watching(tmp_path, quiet_ms=1_000, longest_ms=500) as batches:
        writing = asyncio.create_task(keep_writing())
        async with asyncio.timeout(10):
            assert await anext(batches) == {"busy.py"}
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing


async def test_five_thousand_files_at_once_come_in_few_batches(tmp_path: Path) -> None:
    kept = [f"kept/{n % 50}/{n}.py" for n in range(2_500)]
    gone = [f"gone/{n % 25}/{n}.py" for n in range(1_250)]
    come = [f"come/{n % 25}/{n}.py" for n in range(1_250)]
    make(tmp_path, *kept, *gone)
    async with watching(tmp_path, quiet_ms=1_000) as batches:
        make(tmp_path, *kept, text="of the other branch")
        shutil.rmtree(tmp_path / "gone")
        make(tmp_path, *come)

        seen: set[str] = set()
        count = 0
        while not seen.issuperset([*kept, *gone, *come]):
            seen |= await anext(batches)
            count += 1

    assert seen == {*kept, *gone, *come}
    assert count <= 3


async def test_a_new_directory_is_watched_like_the_others(tmp_path: Path) -> None:
    async with watching(tmp_path) as batches:
        make(tmp_path, "new/deep/a.py", "new/b.py")
        assert await told(batches, "new/deep/a.py", "new/b.py") == {"new/deep/a.py", "new/b.py"}

        make(tmp_path, "new/deep/a.py", text="other")
        assert await anext(batches) == {"new/deep/a.py"}


async def test_a_directory_that_moves_takes_its_files_along(tmp_path: Path) -> None:
    make(tmp_path, "old/a.py", "old/in/b.py")
    async with watching(tmp_path) as batches:
        (tmp_path / "old").rename(tmp_path / "new")

        expected = {"old/a.py", "old/in/b.py", "new/a.py", "new/in/b.py"}
        assert await told(batches, *expected) == expected


async def test_what_a_walk_skips_is_not_reported(tmp_path: Path) -> None:
    make(tmp_path, ".gitignore", text="*.log\nout/\n")
    make(tmp_path, ".git/HEAD", "out/a.js", "node_modules/b/c.js")
    async with watching(tmp_path, limits=FileLimits(max_bytes=100)) as batches:
        make(tmp_path, ".git/HEAD", ".git/refs/main", "out/a.js", "out/b/c.js", text="other")
        make(tmp_path, "node_modules/b/c.js", "a.log", "photo.png", "in/node_modules/d.js")
        make(tmp_path, "large.py", text="x" * 101)
        os.mkfifo(tmp_path / "pipe.py")

        assert await all_until_last(tmp_path, batches) == set()


async def test_an_ignore_file_tells_itself_and_what_it_hides_or_shows(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "b.tmpl")
    make(tmp_path, ".gitignore", text="*.log\n")
    async with watching(tmp_path) as batches:
        make(tmp_path, ".gitignore", text="*.tmpl\n")

        assert await anext(batches) == {".gitignore", "a.log", "b.tmpl"}


async def test_an_ignore_file_that_is_ignored_tells_itself_too(tmp_path: Path) -> None:
    make(tmp_path, ".gitignore", text=".*\n")
    async with watching(tmp_path) as batches:
        make(tmp_path, ".gitignore", text=".*\n*.log\n")

        assert await anext(batches) == {".gitignore"}


async def test_a_careful_save_is_a_change_of_the_file_itself(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    async with watching(tmp_path) as batches:
        make(tmp_path, "4913", ".a.py.swp", "a.py.tmp")
        (tmp_path / "4913").unlink()
        (tmp_path / "a.py").rename(tmp_path / "a.py~")
        (tmp_path / "a.py.tmp").rename(tmp_path / "a.py")
        (tmp_path / ".a.py.swp").unlink()

        assert await anext(batches) == {"a.py"}


async def test_a_name_that_is_not_utf8_does_not_end_the_watch(tmp_path: Path) -> None:
    async with watching(tmp_path) as batches:
        place = os.path.join(os.fsencode(tmp_path), b"caf\xe9.py")
        try:
            os.close(os.open(place, os.O_CREAT))
        except OSError:
            pytest.skip("this file system accepts only UTF-8")

        assert await all_until_last(tmp_path, batches) == set()


@pytest.mark.parametrize(
    "error",
    [
        OSError("OS file watch limit reached."),
        RuntimeError("Error creating recommended watcher: Too many open files"),
    ],
)
async def test_polling_takes_over_when_no_watches_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def none_left(*_: str, **__: Any) -> Iterator[Any]:
        raise error
        yield

    monkeypatch.setattr(watchfiles, "watch", none_left)
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.1)
    make(tmp_path, "in/a.py")
    async with watching(tmp_path) as batches:
        make(tmp_path, "in/a.py", "in/new/b.py", text="other")
        expected = {"in/a.py", "in/new/b.py"}
        assert await told(batches, *expected) == expected

        make(tmp_path, "in/a.py", text="again")
        assert await anext(batches) == {"in/a.py"}


async def test_polling_stops_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "POLL_SECONDS", 3_600)
    async with watching(tmp_path, polling=True):
        pass

    assert not [thread for thread in threading.enumerate() if "watch" in thread.name]


async def test_stopping_ends_the_watch_at_once(tmp_path: Path) -> None:
    stopping = asyncio.Event()
    batches = watch_changes(tmp_path, stopping, quiet_ms=30_000)
    waiting = asyncio.ensure_future(anext(batches))
    await asyncio.sleep(0.1)
    stopping.set()
    async with asyncio.timeout(10):
        with pytest.raises(StopAsyncIteration):
            await waiting


async def test_a_cancelled_watch_ends_without_stopping_anything_else(tmp_path: Path) -> None:
    stopping = asyncio.Event()
    batches = watch_changes(tmp_path, stopping)
    await anext(batches)
    waiting = asyncio.ensure_future(anext(batches))
    await asyncio.sleep(0.1)
    waiting.cancel()
    async with asyncio.timeout(10):
        with pytest.raises(asyncio.CancelledError):
            await waiting

    assert not stopping.is_set()


async def test_a_root_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await anext(watch_changes(tmp_path / "nothing", asyncio.Event()))


async def test_a_root_that_goes_is_an_error_and_not_an_empty_project(tmp_path: Path) -> None:
    root = tmp_path / "root"
    make(root, "a.py")
    batches = watch_changes(root, asyncio.Event(), quiet_ms=100)
    await anext(batches)
    shutil.rmtree(root)
    async with asyncio.timeout(30):
        with pytest.raises(FileNotFoundError):
            await drain(batches)
