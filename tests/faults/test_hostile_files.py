"""Hostile files: whatever a file or its name is like, only that file is affected."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ragforge.brain.ingestion import pool
from ragforge.brain.ingestion.ingest import make_project_id
from ragforge.ports.store import Store
from tests.fakes.code import list_files, list_scopes
from tests.fakes.projects import brain_of, write

GOOD = {"good.py": "def pay():\n    return 1\n"}
DEEP = 2_000
NESTED = {
    "deep.rb": "module A\n" * DEEP + "end\n" * DEEP,
    "deep.cpp": "namespace a {\n" * DEEP + "}\n" * DEEP,
    "deep.js": "function a() {\n" * DEEP + "}\n" * DEEP,
    "wide.rb": "module " + "A" * 400 + "\n" + "module B\n" * 30 + "end\n" * 31,
    "line.rb": ("def a; end; " * 300 + "\n") * 4,
}
CHARS_PER_CHAR = 20


async def _texts(store: Store, root: Path, path: str) -> list[str]:
    scopes = await list_scopes(store, make_project_id(root), path)
    return [
        text
        for scope in scopes
        for text in (scope.source, scope.qualified_name, scope.signature, scope.docstring)
    ]


@pytest.mark.both_engines
async def test_what_is_stored_of_a_file_is_bounded_by_its_size(
    store: Store, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    write(root, {**NESTED, **GOOD})

    report, _ = await brain_of(store, root).ingest()

    dense = {"deep.rb", "deep.cpp", "deep.js", "line.rb"}
    assert {(found.path, found.reason) for found in report.skipped} == {
        (path, "outline") for path in dense
    }
    for path, text in NESTED.items():
        stored = "".join(await _texts(store, root, path))
        assert 0 < len(stored) <= 200_000 + CHARS_PER_CHAR * len(text), path
    assert "pay" in await _texts(store, root, "good.py")


@pytest.mark.both_engines
async def test_headings_without_text_do_not_fill_the_store(store: Store, tmp_path: Path) -> None:
    """363 kB of them made 50 MB: each was a section with a row, indexes and a vector."""
    root = tmp_path / "project"
    headings = "".join(f"{'#' * (1 + n % 6)} Heading {n}\n" for n in range(2_000))
    chapters = "".join(f"## Chapter {n}\n\n{'Some words. ' * 30}\n\n" for n in range(200))
    write(root, {"headings.md": headings, "chapters.md": chapters})
    brain = brain_of(store, root)

    report, _ = await brain.ingest()

    assert [(found.path, found.reason) for found in report.skipped] == [("headings.md", "outline")]
    assert 200 < report.scopes < 250
    [found, *_] = await brain.search_documents("Heading 1234")
    assert found.scope.file == "headings.md"
    assert "Heading 1234" in found.scope.source
    assert await brain.search("Heading 1234") == []


@pytest.mark.both_engines
async def test_only_a_path_that_the_store_cannot_hold_is_left_out(
    store: Store, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    write(root, GOOD)
    folder = root
    for _ in range(4):
        folder /= "d" * 200
    folder.mkdir(parents=True)
    (folder / "far.py").write_text("x = 1\n")
    odd = ["line\nend.py", "tab\tand 'quote'.py", "-rf.py", "\x1b[31m.py"]
    for name in odd:
        (root / name).write_text("def odd(): pass\n")
    (root / os.fsdecode(b"not-utf8-\xff.py")).write_text("x = 1\n")

    report, _ = await brain_of(store, root).ingest()

    known = {file.path for file in await list_files(store, make_project_id(root))}
    assert known == {"good.py", *odd}
    reasons = [found.reason for found in report.skipped]
    assert reasons == ["name", "name"]


@pytest.mark.both_engines
async def test_only_a_file_that_vanishes_while_it_is_read_is_left_out(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    write(root, {**GOOD, "gone.py": "x = 1\n"})
    read_here = pool.read_here

    def remove_first(*given: object) -> object:
        (root / "gone.py").unlink(missing_ok=True)
        return read_here(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(pool, "read_here", remove_first)

    report, _ = await brain_of(store, root).ingest()

    assert [(found.path, found.reason) for found in report.skipped] == [("gone.py", "unreadable")]
    assert "pay" in await _texts(store, root, "good.py")


async def test_a_chain_of_calls_costs_little_and_is_reported(store: Store, tmp_path: Path) -> None:
    """Bash's grammar took 20 seconds to parse it, and the queries of Haskell as long."""
    root = tmp_path / "project"
    chain = "x = (a\n" + "  .b()\n" * 25_000 + ")\n"
    write(root, {"chain.sh": chain, "chain.hs": chain, **GOOD})

    report, _ = await brain_of(store, root).ingest()

    assert {(found.path, found.reason) for found in report.skipped} == {
        ("chain.sh", "costly"),
        ("chain.hs", "depth"),
    }
    assert chain[:100] in (await _texts(store, root, "chain.sh"))[0]
    assert "pay" in await _texts(store, root, "good.py")


@pytest.mark.skipif(sys.platform == "win32", reason="the system cannot limit CPU time")
def test_a_worker_that_takes_too_much_cpu_time_is_ended() -> None:
    program = (
        "from ragforge.brain.ingestion.pool import limit_time\nlimit_time(0)\nwhile True: pass\n"
    )

    done = subprocess.run([sys.executable, "-c", program], timeout=300, check=False)

    assert done.returncode == -signal.SIGXCPU


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by the system")
def test_only_the_worker_fails_before_it_takes_all_memory() -> None:
    program = (
        "from ragforge.brain.ingestion.pool import limit_memory\n"
        "limit_memory(1 << 30)\n"
        "try:\n    bytearray(1 << 31)\nexcept MemoryError:\n    print('refused')\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert done.stdout == b"refused\n"


async def test_a_worker_that_takes_too_long_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "BATCH_SECONDS", 0.0)
    monkeypatch.setattr(pool, "MANY_FILES", 1)
    monkeypatch.setattr(pool.os, "cpu_count", lambda: 2)
    write(tmp_path, GOOD)
    found = [pool.FoundFile("good.py", 20, 0)]

    async with pool.SourceReader(tmp_path, "project", 1) as reader:
        batches = [batch async for batch in reader.read_batches(found, {})]

    assert [(file.path, file.skipped) for (file,) in batches] == [("good.py", "costly")]
