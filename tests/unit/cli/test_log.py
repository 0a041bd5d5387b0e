"""The log: private, without secrets, bounded, and never in the way."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from ragforge.adapters.stores.holders import this_process
from ragforge.adapters.stores.sqlite.migrate import SCHEMA
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.app.features import doctor
from ragforge.app.wiring import log
from ragforge.context.gather import run_with_deadline
from ragforge.domain.text import Json
from ragforge.domain.work import NewJob
from ragforge.errors import ModelUnavailable
from ragforge.jobs.worker import Worker
from ragforge.llm.ask import RetryPolicy, with_retries
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.unit.cli.conftest import FakeApp, Ragforge

LOGGER = logging.getLogger("ragforge.test")


@pytest.fixture(autouse=True)
def restore_loggers() -> Iterator[None]:
    """Leave the loggers as they were."""
    loggers = [logging.getLogger(name) for name in ("ragforge", "asyncio")]
    before = [(logger, logger.level, list(logger.handlers)) for logger in loggers]
    yield
    for logger, level, handlers in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of an open log."""
    log.open_log(tmp_path / "state", None)
    return tmp_path / "state" / log.FILE_NAME


def test_a_record_is_a_line_with_its_level_and_module(file: Path) -> None:
    LOGGER.warning("Search %r failed", "notes")

    [line] = file.read_text().splitlines()

    assert f"WARNING {os.getpid()} ragforge.test: Search 'notes' failed" in line


def test_only_the_owner_can_read_the_file(file: Path) -> None:
    file.parent.mkdir()
    file.touch(0o644)
    LOGGER.warning("x")

    assert file.stat().st_mode & 0o777 == 0o600


def test_secrets_are_redacted_in_messages_and_tracebacks(file: Path) -> None:
    try:
        raise ValueError("password=hunter2hunter2")
    except ValueError:
        LOGGER.exception("key %s", "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")

    text = file.read_text()

    assert "Traceback" in text
    assert "[redacted: " in text
    assert "hunter2hunter2" not in text
    assert "abcdefghijklmnop" not in text


def test_the_file_is_rotated_and_few_older_ones_are_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "MAX_BYTES", 1_000)
    log.open_log(file.parent, None)

    for number in range(100):
        LOGGER.warning("record %d", number)

    files = sorted(file.parent.iterdir())
    assert [one.name for one in files] == ["ragforge.log", "ragforge.log.1", "ragforge.log.2"]
    assert all(one.stat().st_size <= 1_000 for one in files)
    assert all(one.stat().st_mode & 0o777 == 0o600 for one in files)
    assert "record 99\n" in file.read_text()


def test_two_processes_share_a_file_that_one_of_them_rotates(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    LOGGER.warning("before")
    file.rename(file.with_name("ragforge.log.1"))
    LOGGER.warning("after")

    assert "after" in file.read_text()


@pytest.mark.parametrize(
    ("name", "debug", "logged"),
    [
        (None, False, ["info", "error"]),
        ("nonsense", False, ["info", "error"]),
        ("ERROR", False, ["error"]),
        ("debug", False, ["debug", "info", "error"]),
        ("error", True, ["debug", "info", "error"]),
        ("off", False, []),
    ],
)
def test_the_level_decides_what_is_logged(
    tmp_path: Path, name: str | None, debug: bool, logged: list[str]
) -> None:
    log.open_log(tmp_path, name, debug=debug)
    for level in ("debug", "info", "error"):
        getattr(LOGGER, level)("is %s", level)

    file = tmp_path / log.FILE_NAME
    lines = file.read_text().splitlines() if file.exists() else []
    assert [line.rpartition(" ")[2] for line in lines] == logged


def test_a_folder_that_cannot_be_written_costs_only_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    log.open_log(tmp_path / "file" / "state", None)
    LOGGER.error("x")

    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_costs_only_the_record(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open("/dev/full", "a", encoding="utf-8") as full:
        monkeypatch.setattr(log, "open_private", lambda _: full)
        LOGGER.error("x")

    assert capsys.readouterr().err == ""


async def test_a_failed_job_is_logged_with_its_traceback(file: Path, tmp_path: Path) -> None:
    async def fail(payload: Json) -> None:
        raise ZeroDivisionError("by zero")

    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    await store.jobs.enqueue([NewJob("embed:1", "embed", {})])
    worker = Worker(store.jobs, this_process(), {"embed": fail}, timedelta(seconds=60), 5)
    await worker.drain()
    await store.close()

    text = file.read_text()
    assert f"store.db: creating schema {SCHEMA}\n" in text
    assert "Job embed:1 failed, attempt 1 of 5" in text
    assert "ZeroDivisionError: by zero" in text


async def test_a_late_search_and_a_failed_one_are_logged(file: Path) -> None:
    async def fail() -> None:
        raise ZeroDivisionError("by zero")

    await run_with_deadline("notes", asyncio.sleep(60), 0.01)
    await run_with_deadline("documents", fail(), 60)

    text = file.read_text()
    assert "Search 'notes' took longer than 0.01 s" in text
    assert "Search 'documents' failed" in text
    assert "ZeroDivisionError: by zero" in text


async def test_failed_requests_and_their_retries_are_logged(file: Path) -> None:
    async def call() -> None:
        raise ModelUnavailable("openai:x failed with status 500")

    with pytest.raises(ModelUnavailable):
        await with_retries(call, RetryPolicy(2, 0.01))

    text = file.read_text()
    assert text.count("ModelUnavailable: openai:x failed with status 500") == 2
    assert "Attempt 2 of 2 follows in 0.0 s" in text


async def test_the_takeover_of_a_lock_is_logged(file: Path, tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    await store.locks.acquire("ingestion:p", this_process(), timedelta(0))
    await store.locks.acquire("ingestion:p", this_process(), timedelta(seconds=60))
    await store.close()

    assert f"Lock ingestion:p is taken over from process {os.getpid()}" in file.read_text()


def test_a_command_that_fails_is_logged(ragforge: Ragforge, app: FakeApp, tmp_path: Path) -> None:
    app.fails = ZeroDivisionError("by zero")
    ragforge("ask", "hello")

    text = (tmp_path / "d" / log.FILE_NAME).read_text()
    assert "The command failed\nTraceback" in text


@pytest.mark.parametrize("option", [True, False])
def test_debug_logs_everything(
    ragforge: Ragforge, monkeypatch: pytest.MonkeyPatch, option: bool
) -> None:
    if not option:
        monkeypatch.setenv("RAGFORGE_DEBUG", "1")
    ragforge("config", "show", *(["--debug"] if option else []))

    assert logging.getLogger("ragforge").level == logging.DEBUG


def test_a_variable_sets_the_level(ragforge: Ragforge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGFORGE_LOG", "error")
    ragforge("config", "show")

    assert logging.getLogger("ragforge").level == logging.ERROR


def test_a_command_that_has_nothing_to_log_makes_no_file(
    ragforge: Ragforge, tmp_path: Path
) -> None:
    ragforge("config", "show")

    assert not (tmp_path / "d").exists()


def test_doctor_names_the_file(tmp_path: Path) -> None:
    check = doctor.check_log(tmp_path, {})
    assert (check.status, check.detail) == ("ok", str(tmp_path / "ragforge.log"))

    wrong = doctor.check_log(tmp_path, {"RAGFORGE_LOG": "loud"})
    assert wrong.status == "warn"
    assert "debug, info" in wrong.remedy

    away = doctor.check_log(tmp_path / "ragforge.log", {})
    assert (away.status, "cannot be written" in away.detail) == ("warn", True)


def test_a_program_that_uses_the_library_gets_no_file_and_no_output() -> None:
    program = (
        "import logging, ragforge\n"
        "logging.getLogger('ragforge.jobs.worker').error('x')\n"
        "[only] = logging.getLogger('ragforge').handlers\n"
        "assert isinstance(only, logging.NullHandler)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
