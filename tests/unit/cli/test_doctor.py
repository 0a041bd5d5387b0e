"""Doctor: each check says what it found and what mends it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragforge.cli import doctor
from ragforge.config import Settings
from ragforge.config.settings import StoreSettings
from ragforge.errors import (
    SchemaTooNew,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from ragforge.ports.store import Health
from tests.unit.cli.conftest import FakeApp, Ragforge

FILE = Settings(store=StoreSettings(url="/x.db"))
SERVER = Settings(store=StoreSettings(url="bolt://host"))


@dataclass
class FakeStore:
    """A store with the parts that the doctor looks at."""

    problems: tuple[str, ...] = ()
    write_error: StoreError | None = None
    closed: bool = False
    bookmarks: list[tuple[str, str | None]] = field(default_factory=list)

    @property
    def archive(self) -> SimpleNamespace:
        return SimpleNamespace(set_bookmark=self._set_bookmark)

    async def health(self) -> Health:
        return Health("SQLite", "3.54", "/x.db", 4, self.problems)

    async def close(self) -> None:
        self.closed = True

    async def _set_bookmark(self, name: str, value: str | None) -> None:
        if self.write_error is not None:
            raise self.write_error
        self.bookmarks.append((name, value))


def opener(store: FakeStore | None = None, error: Exception | None = None) -> Any:
    async def open_store(settings: Settings) -> FakeStore | None:
        if error is not None:
            raise error
        return store

    return open_store


async def test_a_sound_store_is_opened_written_to_and_closed() -> None:
    store = FakeStore()
    checks = await doctor.check_store(FILE, opener(store))
    assert [(check.name, check.status) for check in checks] == [("store", "ok"), ("schema", "ok")]
    assert store.bookmarks == [("doctor", "can write"), ("doctor", None)]
    assert store.closed


async def test_a_damaged_store_fails_with_its_problems() -> None:
    store = FakeStore(problems=("row 7 is missing", "index x is wrong"))
    (check,) = await doctor.check_store(FILE, opener(store))
    assert check.status == "fail"
    assert "row 7 is missing; index x is wrong" in check.detail
    assert "backup" in check.remedy
    assert store.closed


async def test_a_store_that_cannot_be_written_to_fails_and_is_closed() -> None:
    store = FakeStore(write_error=StoreReadOnly("/x.db cannot be written to"))
    (check,) = await doctor.check_store(FILE, opener(store))
    assert (check.status, check.detail) == ("fail", "/x.db cannot be written to")
    assert store.closed


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (StoreCorrupt("x"), "backup"),
        (StoreReadOnly("x"), "writable"),
        (StoreFull("x"), "disk space"),
        (StoreBusy("x"), "Another process"),
        (SchemaTooNew("/x.db", 9, 4), "Upgrade"),
        (StoreUnavailable("x"), "Check the path"),
    ],
)
async def test_a_store_that_does_not_open_fails_with_a_remedy(
    error: StoreError, remedy: str
) -> None:
    (check,) = await doctor.check_store(FILE, opener(error=error))
    assert check.status == "fail"
    assert remedy in check.remedy


async def test_an_error_that_nobody_expected_is_a_failed_check() -> None:
    (check,) = await doctor.check_store(SERVER, opener(error=ImportError("no driver")))
    assert (check.status, check.detail) == ("fail", "ImportError: no driver")


async def test_a_server_that_does_not_answer_fails_with_a_remedy() -> None:
    (check,) = await doctor.check_store(SERVER, opener(error=TimeoutError()))
    assert check.status == "fail"
    assert "RAGFORGE_NEO4J_PASSWORD" in check.remedy


@pytest.mark.parametrize(
    ("version", "status"), [((3, 10, 9), "fail"), ((3, 11, 0), "ok"), ((4, 0, 0), "ok")]
)
def test_python_has_to_be_new_enough(version: tuple[int, ...], status: str) -> None:
    assert doctor.check_python(version).status == status


def test_the_sources_of_settings_are_named() -> None:
    alone = doctor.check_configuration([], {"a": "default"}, {})
    assert alone.detail == "defaults alone: there are no files"
    files = [Path("/u/config.yaml"), Path("/p/ragforge.config.yaml")]
    origins = {"a": "default", "b": "/p/ragforge.config.yaml", "c": "--store"}
    check = doctor.check_configuration(files, origins, {})
    assert check.detail == "/u/config.yaml, /p/ragforge.config.yaml, --store"


def test_a_mistyped_variable_is_a_warning() -> None:
    check = doctor.check_configuration([], {}, {"RAGFORGE_STROE": "x"})
    assert check.status == "warn"
    assert "RAGFORGE_STROE: did you mean RAGFORGE_STORE?" in check.detail


@pytest.mark.parametrize(("free", "status"), [(10, "fail"), (10**8, "warn"), (10**10, "ok")])
def test_disk_space_is_judged(tmp_path: Path, free: int, status: str) -> None:
    check = doctor.check_disk(tmp_path / "not" / "there" / "x.db", lambda _: free)
    assert check.status == status
    assert check.detail.endswith(str(tmp_path))


def test_disk_space_that_cannot_be_told_is_a_warning(tmp_path: Path) -> None:
    def refuse(_: Path) -> int:
        raise PermissionError(13, "Permission denied")

    assert doctor.check_disk(tmp_path / "x.db", refuse).status == "warn"


def test_the_neo4j_driver_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    check = doctor.check_driver()
    assert (check.status, check.remedy) == ("fail", "pip install 'ragforge[neo4j]'")


def test_a_password_is_noticed_but_not_shown() -> None:
    check = doctor.check_credentials({"RAGFORGE_NEO4J_PASSWORD": "hunter2"})
    assert check.status == "ok"
    assert "hunter2" not in f"{check}"
    assert doctor.check_credentials({}).status == "warn"


def test_a_program_that_is_missing_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    for check in (doctor.check_git(), doctor.check_ripgrep()):
        assert (check.status, check.detail) == ("warn", "not found")
        assert check.remedy


@pytest.mark.parametrize(
    "error", [OSError("bad format"), subprocess.TimeoutExpired("git", 10)], ids=str
)
def test_a_program_that_does_not_run_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(shutil, "which", lambda *_, **__: "/bin/git")
    monkeypatch.setattr(subprocess, "run", fail)
    check = doctor.check_git()
    assert check.status == "warn"
    assert "/bin/git does not run" in check.detail


def test_the_ripgrep_beside_python_is_found_without_a_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    check = doctor.check_ripgrep()
    assert check.status == "ok"
    assert str(Path(sys.executable).parent) in check.detail


def test_doctor_is_content_with_a_sound_installation(ragforge: Ragforge, app: FakeApp) -> None:
    app.store = FakeStore()
    shown = ragforge("doctor", "--json")
    report = json.loads(shown.out)
    assert report["ok"] is True
    assert shown.code == 0
    names = [check["name"] for check in report["checks"]]
    assert {"Python", "configuration", "store", "schema", "git", "ripgrep"} <= set(names)
    assert all(set(check) == {"name", "status", "detail", "remedy"} for check in report["checks"])


def test_doctor_reports_a_broken_store_instead_of_crashing(
    ragforge: Ragforge, app: FakeApp
) -> None:
    app.fails = StoreCorrupt("/x.db is damaged")
    shown = ragforge("doctor")
    assert (shown.code, shown.err) == (1, "")
    assert "fail  store" in shown.out
    assert "/x.db is damaged" in shown.out


def test_doctor_looks_at_the_driver_for_a_server(ragforge: Ragforge, app: FakeApp) -> None:
    app.store = FakeStore()
    shown = ragforge("doctor", "--store", "bolt://host")
    assert "Neo4j driver" in shown.out
    assert "disk space" not in shown.out


def test_doctor_reports_wrong_settings_as_a_check(ragforge: Ragforge, project: Path) -> None:
    (project / "ragforge.config.yaml").write_text("store: {ulr: x}")
    shown = ragforge("doctor", "--json")
    report = json.loads(shown.out)
    assert (shown.code, report["ok"]) == (1, False)
    (failed,) = [check for check in report["checks"] if check["status"] == "fail"]
    assert "unknown key 'store.ulr'" in failed["detail"]


async def test_the_model_of_meaning_is_tried() -> None:
    bundled, none = Settings(), Settings.model_validate({"embeddings": {"model": "none"}})

    [_, works] = await doctor.check_models(bundled)
    [_, words] = await doctor.check_models(none)

    assert (works.status, words.status) == ("ok", "ok")
    assert "256 dimensions" in works.detail
    assert "words alone" in words.detail


async def test_a_model_that_cannot_be_loaded_is_a_failed_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ragforge.adapters.embedders.bundled.find_spec", lambda _: None)

    [_, check] = await doctor.check_models(Settings())

    assert check.status == "fail"
    assert "wordllama" in check.detail
