"""Hooks next to faults: the agent sees no error, and `doctor` and `connect --status` tell of it."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ragforge.app.hook.outcomes import HookOutcome, read_outcomes
from tests.fakes.remembered_shop import ANSWERED, ASKED, RememberedShop, remember_shop

FEW_MS = "1500"


@pytest.fixture
async def shop(tmp_path: Path) -> RememberedShop:
    return await remember_shop(tmp_path)


def run(
    shop: RememberedShop, *arguments: str, given: object = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ragforge", *arguments],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        cwd=shop.root,
        env={**os.environ, **shop.environ, **variables},
        check=False,
    )


def ask(shop: RememberedShop, transcript: str = "", session: str = "s1", **variables: str) -> str:
    """Send a prompt as Claude Code does, and return the context that comes back."""
    call = {
        "session_id": session,
        "transcript_path": transcript,
        "cwd": str(shop.root),
        "hook_event_name": "UserPromptSubmit",
        "prompt": ASKED,
    }
    done = run(shop, "hook", "--agent", "claude-code", given=call, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    if not done.stdout:
        return ""
    text: str = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    return text


def read_last(shop: RememberedShop) -> HookOutcome:
    [last] = read_outcomes(Path(shop.environ["RAGFORGE_AGENT__STATE_DIR"]), 1)
    return last


def check_told(shop: RememberedShop, *words: str) -> None:
    """Check that the user is told of it in both places."""
    for command in (("doctor",), ("connect", "--status")):
        said = " ".join(run(shop, *command).stdout.split())
        for word in ("last 1: 0 answered", *words):
            assert word in said, command


def write_transcript(folder: Path, kind: str) -> Path:
    path = folder / "live.jsonl"
    said = {"type": "user", "uuid": "u", "sessionId": "s1", "message": {"content": "Hello"}}
    line = json.dumps(said) + "\n"
    if kind == "half-written":
        path.write_text(line + line[:40])
    elif kind == "one line of 30 MB":
        path.write_text(line + json.dumps({**said, "x": "x" * 30_000_000}))
    elif kind == "not text":
        path.write_bytes(os.urandom(1_000_000))
    elif kind == "other JSON":
        path.write_text('[]\n5\n{"type": {}, "message": [1]}\n{"type": "user", "message": 5}\n')
    elif kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a folder":
        path.mkdir()
    elif kind == "a device":
        return Path("/dev/zero")
    return path


@pytest.mark.parametrize(
    "kind",
    [
        *("missing", "half-written", "one line of 30 MB", "not text", "other JSON"),
        *("a pipe", "a folder", "a device"),
    ],
)
async def test_a_prompt_is_answered_whatever_the_transcript_is(
    shop: RememberedShop, tmp_path: Path, kind: str
) -> None:
    assert ANSWERED in ask(shop, str(write_transcript(tmp_path, kind)))
    assert read_last(shop).result == "given"


@pytest.mark.parametrize("kind", ["not a store", "cut", "of a newer version"])
async def test_a_broken_store_is_counted_as_a_failure(shop: RememberedShop, kind: str) -> None:
    store = Path(shop.environ["RAGFORGE_STORE"])
    if kind == "not a store":
        store.write_bytes(b"no store at all" * 500)
    elif kind == "cut":
        for name in ("-wal", "-shm"):
            Path(f"{store}{name}").unlink(missing_ok=True)
        store.write_bytes(store.read_bytes()[:9_000])
    else:
        with sqlite3.connect(store) as database:
            database.execute("PRAGMA user_version = 999")

    assert ask(shop) == ""

    last = read_last(shop)
    assert (last.result, last.kind, last.agent) == ("failed", "prompt", "claude-code")
    assert last.why
    check_told(shop, "1 failed: ")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a store so that not even a reader can open it."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        other.close()


async def test_a_locked_store_is_reported_as_the_reason_why_a_hook_was_late(
    shop: RememberedShop,
) -> None:
    with locked(Path(shop.environ["RAGFORGE_STORE"])):
        assert ask(shop, RAGFORGE_HOOK__DEADLINE_MS=FEW_MS) == ""

    assert (read_last(shop).result, read_last(shop).why) == ("late", "opening the store")
    check_told(shop, "1 was late", "opening the store")


async def test_a_server_that_is_not_there_is_counted_with_its_address(shop: RememberedShop) -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]

    assert ask(shop, RAGFORGE_STORE=f"bolt://127.0.0.1:{port}") == ""

    assert read_last(shop).result == "failed"
    check_told(shop, "1 failed: ", f"127.0.0.1:{port}")


async def test_a_server_that_never_answers_is_not_waited_for(shop: RememberedShop) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"bolt://127.0.0.1:{silent.getsockname()[1]}"
        assert ask(shop, RAGFORGE_STORE=url, RAGFORGE_HOOK__DEADLINE_MS=FEW_MS) == ""

    assert read_last(shop).result == "late"
    assert read_last(shop).milliseconds < 3_000
    check_told(shop, "1 was late", "opening the store")


async def test_on_a_full_disk_a_prompt_is_answered_and_later_calls_are_counted(
    shop: RememberedShop, small_disk: Path
) -> None:
    state = small_disk / "state"
    variables = {"RAGFORGE_AGENT__STATE_DIR": str(state)}
    assert ANSWERED in ask(shop, **variables)
    ballast = small_disk / "ballast"
    fill(ballast)
    fill(state / "hooks.jsonl")  # what is left of its last page

    assert ANSWERED in ask(shop, session="during", **variables)
    during = read_outcomes(state, 10)
    ballast.unlink()
    assert ANSWERED in ask(shop, session="after", **variables)

    assert len(during) == 1
    assert [one.result for one in read_outcomes(state, 10)] == ["given", "given"]


def fill(path: Path) -> None:
    """Append to a file until the disk is full."""
    with path.open("ab", buffering=0) as file, suppress(OSError):
        while file.write(b" " * 500):
            pass


async def test_hooks_at_the_same_time_are_all_answered_and_counted(shop: RememberedShop) -> None:
    texts: list[str] = []

    def ask_in(session: int) -> None:
        texts.append(ask(shop, session=str(session), RAGFORGE_HOOK__DEADLINE_MS="60000"))

    threads = [threading.Thread(target=ask_in, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [ANSWERED in text for text in texts] == [True] * 6
    state = Path(shop.environ["RAGFORGE_AGENT__STATE_DIR"])
    assert len(read_outcomes(state, 10)) == 6
