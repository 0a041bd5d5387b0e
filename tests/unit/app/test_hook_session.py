"""What a session has received is remembered in a small file, and not given again."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ragforge.app.hook import session as session_module
from ragforge.app.hook.session import FOLDER, MAX_DAYS, ReceivedEntries, remove_old_sessions


def open_session(state: Path, session: str = "s1", agent: str = "codex") -> ReceivedEntries:
    return ReceivedEntries(state, agent, session)


def test_what_was_given_is_known_to_the_next_process_of_the_session(tmp_path: Path) -> None:
    odd = ["turn-1", "file:/a b/\nü.py", "x" * 5_000, ""]
    open_session(tmp_path).note_given(odd)

    later = open_session(tmp_path)

    assert all(map(later.was_given, odd))
    assert not later.was_given("turn-2")
    assert not later.was_given("x" * 4_999)


def test_other_sessions_and_agents_have_received_nothing(tmp_path: Path) -> None:
    open_session(tmp_path).note_given(["turn-1"])

    assert not open_session(tmp_path, "s2").was_given("turn-1")
    assert not open_session(tmp_path, agent="qwen").was_given("turn-1")
    assert not open_session(tmp_path, "../s1").was_given("turn-1")


def test_an_odd_session_id_makes_no_path(tmp_path: Path) -> None:
    open_session(tmp_path, "../../x/\0" * 50).note_given(["turn-1"])

    assert [path.parent for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / FOLDER]
    assert open_session(tmp_path, "../../x/\0" * 50).was_given("turn-1")


def test_a_session_without_an_id_is_not_remembered(tmp_path: Path) -> None:
    open_session(tmp_path, "").note_given(["turn-1"])

    assert not open_session(tmp_path, "").was_given("turn-1")
    assert list(tmp_path.iterdir()) == []


def test_a_reset_session_receives_everything_again(tmp_path: Path) -> None:
    session = open_session(tmp_path)
    session.note_given(["turn-1"])

    session.reset()

    assert not session.was_given("turn-1")
    assert not open_session(tmp_path).was_given("turn-1")
    session.reset()  # twice is once


def test_a_very_long_session_keeps_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "MAX_IDS", 10)
    session = open_session(tmp_path)
    for number in range(11):
        session.note_given([f"turn-{number}"])

    known = [n for n in range(11) if open_session(tmp_path).was_given(f"turn-{n}")]

    assert known == list(range(5, 11))


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    open_session(tmp_path / "state").note_given(["turn-1"])

    (file,) = (tmp_path / "state" / FOLDER).iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_what_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / FOLDER).touch()
    session = open_session(tmp_path)

    session.note_given(["turn-1"])

    assert session.was_given("turn-1")
    assert not open_session(tmp_path).was_given("turn-1")
    session.reset()
    remove_old_sessions(tmp_path)


def test_sessions_that_ended_long_ago_are_removed_and_of_many_the_oldest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "MAX_FILES", 3)
    for number in range(5):
        open_session(tmp_path, f"s{number}").note_given(["turn-1"])
    for age, path in enumerate(sorted((tmp_path / FOLDER).iterdir())):
        changed = path.stat().st_mtime - (MAX_DAYS + 1 if age == 4 else age) * 24 * 60 * 60
        os.utime(path, (changed, changed))

    remove_old_sessions(tmp_path)

    left = [n for n in range(5) if open_session(tmp_path, f"s{n}").was_given("turn-1")]
    assert left == [0, 1, 2]
