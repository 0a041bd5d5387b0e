"""Keeping a store small and current, as its user sees it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import TypeAlias

import apsw
import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.app.opening import open_app
from ragforge.config import Settings
from ragforge.config.settings import StoreSettings
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import conversation, exchange
from tests.fakes.zygote import run_module
from tests.unit.adapters.test_sqlite_upkeep import fill

Run: TypeAlias = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "cart.py").write_text("def total():\n    return 1\n")
    return root


@pytest.fixture
def ragforge(tmp_path: Path, root: Path) -> Run:
    environ = {**os.environ, "RAGFORGE_STORE": str(tmp_path / "store.db")}

    def run(*arguments: str) -> CompletedProcess[str]:
        return run_module("ragforge", *arguments, env=environ, cwd=root)

    return run


def measure(path: Path) -> int:
    """Return the size in bytes of a store with the files next to it."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


async def test_vacuum_frees_the_space_of_a_deletion(tmp_path: Path, ragforge: Run) -> None:
    path = tmp_path / "store.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    await fill(store, "large", 1, 3_000_000)
    await store.records.delete(CONVERSATION, "large")
    await store.close()

    done = ragforge("store", "vacuum", "--json")

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["given_back"] > 2_000_000
    assert report["after"] == measure(path)
    assert not report["delayed"]
    again = ragforge("store", "vacuum")
    assert "Nothing to release" in again.stdout + again.stderr


def test_vacuum_says_what_it_is_not_for(ragforge: Run) -> None:
    missing = ragforge("store", "vacuum")
    assert missing.returncode != 0
    assert "There is no store at" in missing.stderr
    server = ragforge("--store", "bolt://localhost:1", "store", "vacuum")
    assert server.returncode != 0
    assert "vacuum works on SQLite files only" in server.stderr


async def test_a_deleted_session_leaves_no_space_behind(tmp_path: Path, root: Path) -> None:
    path = tmp_path / "store.db"
    settings = Settings(store=StoreSettings(url=str(path)))
    async with open_app(settings, root) as app:
        await fill(app.store, "large", 1, 3_000_000)
    before = measure(path)

    async with open_app(settings, root) as app:
        await app.store.records.delete(CONVERSATION, "large")

    assert measure(path) < before - 2_000_000


def test_forgotten_code_leaves_no_space_behind(tmp_path: Path, root: Path, ragforge: Run) -> None:
    for number in range(40):
        lines = "\n".join(f"    value_{i} = {i}" for i in range(2_000))
        (root / f"module_{number}.py").write_text(f"def work_{number}():\n{lines}\n")
    assert ragforge("ingest").returncode == 0
    before = measure(tmp_path / "store.db")

    assert ragforge("forget", ".").returncode == 0

    assert measure(tmp_path / "store.db") < before / 2


async def test_a_status_shows_how_far_reindexing_is(tmp_path: Path, ragforge: Run) -> None:
    path = tmp_path / "store.db"
    assert ragforge("ingest").returncode == 0
    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", exchange("parsing headers", "yes"))
    await store.close()
    older = apsw.Connection(str(path))
    older.execute("UPDATE meta SET value = '1' WHERE name = 'tokeniser'")
    older.close()

    shown = ragforge("status")

    assert "0 of 3 texts re-indexed" in " ".join((shown.stdout + shown.stderr).split())
    status = json.loads(ragforge("status", "--json").stdout)
    assert status["reindexing"] is None  # a command that is done continues it for a moment
