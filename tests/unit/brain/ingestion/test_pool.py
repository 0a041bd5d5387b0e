"""Pool: all files are read, by any number of processes, and a bad file affects only itself."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ragforge.brain.files.exclusions import FileLimits
from ragforge.brain.files.walk import FoundFile, walk
from ragforge.brain.ingestion import pool
from ragforge.brain.ingestion.pool import SourceReader
from ragforge.brain.parse.read_source import ReadFile, read_file

# A worker that ends silently when it reaches a file of a certain name.
DEADLY_WORKER = """
import os, sys

from ragforge.brain.ingestion import pool

def read_file(root, project_id, path, *rest, read=pool.read_file):
    if "deadly" in path:
        os._exit(9)
    return read(root, project_id, path, *rest)

pool.read_file = read_file
sys.argv = ["worker", *sys.argv[-2:]]
pool.main()
"""


@pytest.fixture
def in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few files be enough for workers, with several batches each."""
    monkeypatch.setattr(pool, "MANY_FILES", 1)
    monkeypatch.setattr(pool, "BATCH_FILES", 3)
    monkeypatch.setattr(pool.os, "cpu_count", lambda: 3)


@pytest.fixture
def deadly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_processes: None) -> None:
    """Let workers die over files whose name says so."""
    program, python = tmp_path / "deadly.py", tmp_path / "python"
    program.write_text(DEADLY_WORKER)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{program}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))


def make(root: Path, *names: str) -> tuple[FoundFile, ...]:
    root.mkdir()
    for name in names:
        (root / name).write_text(f"def about_{name.partition('.')[0]}():\n    pass\n")
    return walk(root, FileLimits()).files


async def read(
    root: Path, files: tuple[FoundFile, ...], hashes: dict[str, str] | None = None
) -> dict[str, ReadFile]:
    async with SourceReader(root, "project", len(files)) as reader:
        batches = [batch async for batch in reader.read_batches(files, hashes or {})]
    found = [file for batch in batches for file in batch]
    assert len(found) == len({file.path for file in found})
    return {file.path: file for file in found}


def read_one_by_one(root: Path, files: tuple[FoundFile, ...]) -> dict[str, ReadFile]:
    return {f.path: read_file(str(root), "project", f.path, f.mtime_ns) for f in files}


def workers() -> list[psutil.Process]:
    found = psutil.Process().children(recursive=True)
    return [child for child in found if "ragforge.brain.ingestion.pool" in child.cmdline()]


async def test_few_files_are_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    files = make(tmp_path / "project", "a.py", "b.py")

    assert await read(tmp_path / "project", files) == read_one_by_one(tmp_path / "project", files)


@pytest.mark.usefixtures("in_processes")
async def test_many_files_are_read_by_workers_as_one_process_would(tmp_path: Path) -> None:
    files = make(tmp_path / "project", *(f"f{number}.py" for number in range(20)))

    assert await read(tmp_path / "project", files) == read_one_by_one(tmp_path / "project", files)
    assert workers() == []


@pytest.mark.usefixtures("in_processes")
async def test_workers_leave_out_what_has_not_changed(tmp_path: Path) -> None:
    files = make(tmp_path / "project", "a.py", "b.py")
    first = await read(tmp_path / "project", files)
    assert first["a.py"].parsed is not None

    second = await read(tmp_path / "project", files, {"a.py": first["a.py"].parsed.file.hash})

    assert second["a.py"].outline is None
    assert second["b.py"].outline is not None


async def test_a_batch_is_bounded_by_files_and_by_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "BATCH_FILES", 3)
    monkeypatch.setattr(pool, "BATCH_BYTES", 100)
    root = tmp_path / "project"
    root.mkdir()
    for name, size in [("a", 10), ("b", 10), ("c", 10), ("d", 10), ("e", 90), ("f", 500)]:
        (root / name).write_text("x" * size)
    files = walk(root, FileLimits()).files

    async with SourceReader(root, "project", len(files)) as reader:
        batches = [[file.path for file in batch] async for batch in reader.read_batches(files, {})]

    assert batches == [["a", "b", "c"], ["d", "e"], ["f"]]


@pytest.mark.usefixtures("deadly")
@pytest.mark.parametrize(
    "bad",
    [("f4-deadly.py",), ("f0-deadly.py", "f1-deadly.py"), ("f2-deadly.py", "f8-deadly.py")],
    ids=["one", "two of a batch", "two of different batches"],
)
async def test_only_the_file_that_ends_a_worker_is_left_out(
    tmp_path: Path, bad: tuple[str, ...]
) -> None:
    good = [f"f{n}.py" for n in range(10) if f"f{n}-deadly.py" not in bad]
    files = make(tmp_path / "project", *good, *bad)

    found = await read(tmp_path / "project", files)

    assert set(found) == {*good, *bad}
    assert {path for path, file in found.items() if file.skipped == "costly"} == set(bad)
    assert all(found[path].outline is not None for path in good)
    assert workers() == []


@pytest.mark.usefixtures("deadly")
async def test_only_the_repetitive_ones_of_a_few_files_are_read_by_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MANY_FILES", 100)
    root = tmp_path / "project"
    make(root, "good-not-deadly.py", "table.py")
    (root / "deadly.c").write_text("a =>\n" * 3_000)  # its grammar would take 3 GB
    (root / "table.py").write_text(f"TABLE = [{'1, ' * 2_000}]\n")

    found = await read(root, walk(root, FileLimits()).files)

    assert {path: file.skipped for path, file in found.items()} == {
        "good-not-deadly.py": None,
        "table.py": None,
        "deadly.c": "costly",
    }
    assert found["table.py"].outline is not None
    assert workers() == []


@pytest.mark.usefixtures("deadly")
async def test_files_that_all_end_their_workers_end_the_reading_as_well(tmp_path: Path) -> None:
    names = [f"{number}-deadly.py" for number in range(5)]

    found = await read(tmp_path / "project", make(tmp_path / "project", *names))

    assert [file.skipped for file in found.values()] == ["costly"] * 5


@pytest.mark.usefixtures("in_processes")
async def test_a_caller_that_leaves_early_leaves_no_workers(tmp_path: Path) -> None:
    files = make(tmp_path / "project", *(f"f{number}.py" for number in range(20)))

    async with SourceReader(tmp_path / "project", "project", len(files)) as reader:
        async for _ in reader.read_batches(files, {}):
            break

    assert workers() == []


@pytest.mark.usefixtures("in_processes")
async def test_workers_that_cannot_be_started_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = make(tmp_path / "project", "a.py", "b.py")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    with pytest.raises(FileNotFoundError):
        await read(tmp_path / "project", files)


def start_worker(root: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ragforge.brain.ingestion.pool", str(root), "project"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


def asking_for(*paths: str) -> bytes:
    data = pickle.dumps([(path, 0, None) for path in paths])
    return len(data).to_bytes(pool.LENGTH_BYTES, "little") + data


@pytest.mark.parametrize("asked", [b"", asking_for("a.py")[:4], asking_for("a.py")[:-4]])
def test_a_worker_ends_when_its_input_does(tmp_path: Path, asked: bytes) -> None:
    worker = start_worker(tmp_path)

    assert worker.communicate(asked, timeout=60) == (b"", b"")
    assert worker.returncode == 0


@pytest.mark.parametrize("lines", [1, 20_000], ids=["small", "more than a pipe holds"])
def test_a_worker_without_a_listener_ends_silently(tmp_path: Path, lines: int) -> None:
    (tmp_path / "a.py").write_text("x = 1  # and so on\n" * lines)
    with start_worker(tmp_path) as worker:
        assert worker.stdin and worker.stdout and worker.stderr  # noqa: PT018
        worker.stdout.close()
        worker.stdin.write(asking_for("a.py"))
        worker.stdin.close()

        assert worker.stderr.read() == b""


async def test_modules_of_the_project_are_not_imported_by_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_processes: None
) -> None:
    files = make(tmp_path / "root", "pickle.py", "typing.py", "b.py", "c.py")
    (tmp_path / "root/pickle.py").write_text("open('owned', 'w')\n")
    monkeypatch.chdir(tmp_path / "root")

    found = await read(tmp_path / "root", files)

    assert all(file.outline for file in found.values())
    assert not (tmp_path / "root/owned").exists()
