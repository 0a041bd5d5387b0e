"""Machines at their limits: one sentence that says what is missing, and nothing left behind."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.app import open_app
from ragforge.app.wiring.projects import recognise
from ragforge.cli import main
from ragforge.cli.guard import FAILED
from ragforge.config import Settings
from ragforge.domain.schema import CONVERSATION
from ragforge.errors import InputError, StoreUnavailable
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.private_files import replace_file
from ragforge.search.words.tokenise import WORDS
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import FileEdit, apply_change
from tests.fakes.builders import conversation, exchange
from tests.fakes.projects import brain_of, write
from tests.faults.test_bad_files import let_others_pass, unprivileged

DEAD = 4_194_999  # beyond the highest number of a process
LONG = 48 * 60 * 60
WHILE = 120

FAILURES = {
    "threads": (RuntimeError("can't start new thread"), "No more threads or processes"),
    "descriptors": (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
    "memory": (MemoryError(), "not enough memory"),
    "in a group": (ExceptionGroup("g", [OSError(errno.ENFILE, "x")]), "open on this machine"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_the_machine_has_run_out_of_is_named(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error, sentence = FAILURES[name]

    def fail(*_: object) -> object:
        raise error

    monkeypatch.setattr(main, "build_program", fail)

    assert main.run(["doctor"]) == FAILED
    said = capsys.readouterr().err
    assert sentence in said
    assert "unexpected" not in said


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Let no further file be opened."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def test_a_store_that_no_descriptor_is_left_for_says_so(
    tmp_path: Path,
) -> None:
    with no_descriptors(), pytest.raises(StoreUnavailable, match="too many files are open"):
        await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)


async def test_removing_a_watched_directory_is_reported(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    root = tmp_path / "project"
    write(root, {"a.py": "x = 1\n"})

    def remove(_: object) -> None:
        shutil.rmtree(root)

    with pytest.raises(InputError, match="was removed or cannot be read any more"):
        await brain_of(store, root).watch(asyncio.Event(), remove)
    await store.close()


def edit(path: str, data: bytes) -> None:
    apply_change(Root(os.path.dirname(path)), FileEdit(os.path.basename(path), None, data))


@pytest.mark.parametrize("write_file", [replace_file, edit])
def test_what_killed_writes_left_is_removed_by_the_next_write(
    tmp_path: Path, write_file: Callable[[str, bytes], None]
) -> None:
    now = time.time()
    ages = {
        f".ragforge-{DEAD}-ab12cd_e": WHILE,
        ".ragforge-xy1z_abc": LONG,  # of an earlier version
        f".ragforge-{os.getpid()}-ab12cd_e": WHILE,
        f".ragforge-{DEAD}-ab12cd_f": 0,  # it may be another machine's
        ".ragforge-xy1z_abd": WHILE,
        ".ragforge-settings": LONG,  # a user's own file
        ".ragforgeignore": LONG,
    }
    for name, age in ages.items():
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (now - age, now - age))

    write_file(str(tmp_path / "new.txt"), b"all of it")

    left = {file.name for file in tmp_path.iterdir()}
    assert left == {*list(ages)[2:], "new.txt"}
    assert (tmp_path / "new.txt").read_bytes() == b"all of it"


async def test_a_read_only_store_is_searched_and_its_sessions_are_listed(tmp_path: Path) -> None:
    folder, project = tmp_path / "locked", tmp_path / "project"
    write(project, {"pay.py": "def pay():\n    return 1\n", "pyproject.toml": "[project]\n"})
    store = await open_sqlite(folder / "store.db", WORDS, REDACTOR)
    await store.records.put(
        CONVERSATION, conversation(uuid="c", cwd=str(project), project_path=str(project))
    )
    await store.timeline.append("c", exchange("where are zebras paid", "in pay.py"))
    await brain_of(store, project, place=await recognise(store, project, None)).ingest()
    await store.close()
    settings = Settings.model_validate(
        {
            "author": "Ann",  # without a name, another one of git's is found for each login
            "store": {"url": str(folder / "store.db")},
            "embeddings": {"model": "none"},
        }
    )

    async def read(*, read_only: bool) -> None:
        async with open_app(settings, project) as app:
            assert app.store.read_only == read_only
            assert [one.uuid for one in await app.sessions.find()] == ["c"]
            assert await app.memory.search("zebras")
            assert await app.code.search("pay")

    await read(read_only=False)  # loads what is imported late: nobody may read root's Python
    let_others_pass(folder)
    let_others_pass(project)
    (folder / "store.db").chmod(0o444)
    folder.chmod(0o555)
    with unprivileged():
        await read(read_only=True)


ANSWER_BYTES = 8_000_000
_APPEND = """
import asyncio, resource, sys
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.schema import CONVERSATION

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

async def main(path, size):
    store = await open_sqlite(path, WORDS, REDACTOR)
    talk = Conversation(cwd="/x", project_path="/x")
    await store.records.put(CONVERSATION, talk)

    async def append(answer):
        messages = [Message("user", "q"), Message("assistant", answer)]
        await store.timeline.append(talk.uuid, messages)

    await append("a " * 300_000)
    answer = "a line of text " * (size // 15)
    before = peak()
    await append(answer)
    print(peak() - before)
    await store.close()

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measured in kilobytes")
def test_a_large_answer_costs_a_few_times_its_size(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _APPEND, str(tmp_path / "store.db"), str(ANSWER_BYTES)]

    done = subprocess.run(command, capture_output=True, check=True, text=True)

    assert int(done.stdout) < 4 * ANSWER_BYTES
