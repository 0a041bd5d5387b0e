"""Private files: what RagForge writes, only its owner can read, whatever the umask is."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite import migrate
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.agent.rules import PermissionRules, parse_rule
from ragforge.app.features.sessions import save_file
from ragforge.app.wiring.log import open_log
from ragforge.domain.conversations import Conversation
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.private_files import create_private_file, make_private_folder
from ragforge.search.words.tokenise import WORDS
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import FileEdit, Journal
from ragforge.tui.loop import open_history

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes mean nothing there")


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """A user whose new files everyone may read, or no one at all."""
    before = os.umask(request.param)
    yield
    os.umask(before)


def list_modes(folder: Path) -> dict[str, str]:
    """Return the modes of all in a folder, by path."""
    found = {
        str(path.relative_to(folder)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in sorted(folder.rglob("*"))
    }
    assert found
    return found


def list_open(folder: Path) -> dict[str, str]:
    """Return those that are not only for their owner: folders 0700, files 0600."""
    return {
        path: mode
        for path, mode in list_modes(folder).items()
        if mode != ("0o700" if (folder / path).is_dir() else "0o600")
    }


async def test_a_store_and_the_files_next_to_it_are_only_for_their_owner(
    umask: None, tmp_path: Path
) -> None:
    store = await open_sqlite(tmp_path / "data" / "deep" / "ragforge.db", WORDS, REDACTOR)
    try:
        await store.records.put(CONVERSATION, Conversation("/p", "/p"))

        assert {"data/deep/ragforge.db-wal", "data/deep/ragforge.db-shm"} <= set(
            list_modes(tmp_path)
        )
        assert list_open(tmp_path) == {}
    finally:
        await store.close()


def test_a_store_is_private_before_anything_is_written_to_it(
    umask: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, str]] = []

    def connect(path: Path) -> apsw.Connection:
        seen.append(list_modes(tmp_path))
        return real(path)

    real = migrate.connect
    monkeypatch.setattr(migrate, "connect", connect)
    migrate.prepare(tmp_path / "ragforge.db")

    assert seen == [{"ragforge.db": "0o600"}]


async def test_a_store_that_others_could_read_is_closed_to_them_when_it_is_opened(
    tmp_path: Path,
) -> None:
    file = tmp_path / "ragforge.db"
    first = await open_sqlite(file, WORDS, REDACTOR)
    await first.records.put(CONVERSATION, Conversation("/p", "/p"))
    for path in tmp_path.iterdir():
        path.chmod(0o644)
    second = await open_sqlite(file, WORDS, REDACTOR)
    try:
        assert len(list_modes(tmp_path)) == 3
        assert list_open(tmp_path) == {}
    finally:
        await second.close()
        await first.close()


async def test_a_folder_that_is_there_already_keeps_its_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    await (await open_sqlite(shared / "ragforge.db", WORDS, REDACTOR)).close()

    assert stat.S_IMODE(shared.stat().st_mode) == 0o755


def test_log_history_rules_undo_copies_and_exports_are_only_for_their_owner(
    umask: None, tmp_path: Path
) -> None:
    state, project = tmp_path / "home" / "state", tmp_path / "project"
    make_private_folder(project)
    open_log(state / "log", None)
    logging.getLogger("ragforge").error("x")
    history = open_history(state / "lines", str)
    (state / "lines" / "history").unlink()  # by a user who cleans up
    history.store_string("x")
    PermissionRules.of(state / "rules", project).add(parse_rule("allow", "run_command(make)"))
    Journal.of(state, "c").make(Root.at(project), FileEdit("x", None, b"x"))
    save_file(state / "export.json", b"{}")

    assert len(list_modes(tmp_path / "home")) == 11
    assert list_open(tmp_path / "home") == {}


def test_an_old_log_is_closed_to_others_before_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "ragforge.log"
    file.touch(0o644)
    open_log(tmp_path, None)
    logging.getLogger("ragforge").error("x")

    assert list_open(tmp_path) == {}


def test_a_link_or_a_pipe_in_the_place_of_a_file_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = list_modes(tmp_path)
    create_private_file(tmp_path / "pipe")

    assert list_modes(tmp_path) == before
