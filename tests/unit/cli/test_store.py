"""`ragforge store`: what it holds, and copying it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.work import JobStatus, NewJob
from ragforge.errors import CopyIncomplete
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Health, list_record_kinds
from ragforge.search.words.tokenise import WORDS
from tests.unit.cli.conftest import FakeApp, Ragforge


def test_store_info_shows_the_engine_and_counts(
    ragforge: Ragforge, app: FakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def inspect_store(_: object) -> tuple[Health, dict[str, int]]:
        health = Health("SQLite", "3.54", "/x.db", 4, ("row 7 is missing",))
        return health, {kind: len(kind) for kind in list_record_kinds()}

    monkeypatch.setattr("ragforge.cli.commands.store.inspect_store", inspect_store)
    facts = json.loads(ragforge("store", "info", "--json").out)
    assert facts["engine"] == "SQLite"
    assert facts["counts"] == {kind: len(kind) for kind in list_record_kinds()}
    assert "row 7 is missing" in ragforge("store", "info").out


def test_store_info_leaves_waiting_jobs_to_others(ragforge: Ragforge, tmp_path: Path) -> None:
    place = tmp_path / "store.db"

    async def count_jobs(enqueue: bool) -> Mapping[JobStatus, int]:
        store = await open_sqlite(place, WORDS, REDACTOR)
        if enqueue:
            await store.jobs.enqueue([NewJob("k", "settle", ["no such session", "turn"])])
        counts = (await store.jobs.count()).by_status
        await store.close()
        return counts

    before = asyncio.run(count_jobs(enqueue=True))
    assert ragforge("--store", str(place), "store", "info").code == 0
    assert asyncio.run(count_jobs(enqueue=False)) == before
    assert before["pending"] == 1


def test_store_copy_reports_only_on_stderr(ragforge: Ragforge, app: FakeApp, project: Path) -> None:
    shown = ragforge("store", "copy", "--from", "a.db", "--to", "bolt://host")
    assert app.calls == [("copy", str(project / "a.db"), "bolt://host")]
    assert (shown.code, shown.out) == (0, "")
    assert shown.err == "Copied 2 records to bolt://host.\n"


def test_store_copy_shows_its_progress_in_a_terminal(
    ragforge: Ragforge, app: FakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = ragforge("store", "copy", "--from", "a.db", "--to", "b.db")
    assert "2/2" in shown.err
    assert shown.out == ""


def test_store_copy_in_json(ragforge: Ragforge, app: FakeApp) -> None:
    shown = ragforge("store", "copy", "--from", "a.db", "--to", "b.db", "--json")
    assert json.loads(shown.out) == {"resumed": False, "counts": {"message": 2}}


def test_store_copy_refuses_one_store_under_two_names(ragforge: Ragforge, app: FakeApp) -> None:
    shown = ragforge("store", "copy", "--from", "a.db", "--to", "sqlite:///x/../a.db")
    assert shown.code == 2
    assert app.calls == []


def test_store_copy_refuses_a_password_in_a_url(ragforge: Ragforge, app: FakeApp) -> None:
    shown = ragforge("store", "copy", "--from", "a.db", "--to", "bolt://ann:hunter2@h", "--debug")
    assert shown.code == 2
    assert "--to holds a user name or a password" in shown.err
    assert "hunter2" not in shown.err
    assert app.calls == []


def test_a_copy_that_fails_is_reported_in_one_sentence(ragforge: Ragforge, app: FakeApp) -> None:
    app.fails = CopyIncomplete("3 messages are missing")
    shown = ragforge("store", "copy", "--from", "a.db", "--to", "b.db")
    assert (shown.code, shown.err) == (1, "3 messages are missing\n")


def test_a_store_is_backed_up_and_repaired_by_the_command(
    ragforge: Ragforge, project: Path
) -> None:
    assert ragforge("--store", "memory.db", "ask", "where are zebras paid?").code == 0
    saved = ragforge("--store", "memory.db", "store", "backup", "backup.db")
    repaired = ragforge("--store", "memory.db", "store", "repair", "--json")

    assert (saved.code, saved.out) == (0, "")
    assert saved.err.endswith(f"Saved {project}/memory.db to {project}/backup.db.\n")
    report = json.loads(repaired.out)
    assert (report["file"], report["lost"]) == (f"{project}/memory-repaired.db", [])
    for copy in ("backup.db", "memory-repaired.db"):
        assert "zebras" in ragforge("--store", copy, "search", "zebras", "--in", "memory").out


def test_a_backup_does_not_overwrite_a_file(ragforge: Ragforge, project: Path) -> None:
    (project / "mine.db").write_text("mine")
    shown = ragforge("--store", "memory.db", "store", "backup", "mine.db")

    assert shown.code == 1
    assert "mine.db exists already. Name a new file." in shown.err
    assert (project / "mine.db").read_text() == "mine"


def test_there_is_nothing_to_back_up_before_there_is_a_store(ragforge: Ragforge) -> None:
    shown = ragforge("--store", "none.db", "store", "backup", "backup.db")
    assert shown.code == 1
    assert "none.db yet. The first question creates it." in shown.err
