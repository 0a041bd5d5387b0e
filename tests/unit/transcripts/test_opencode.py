"""opencode: a database that may be written while it is read, and the tree before it."""

from __future__ import annotations

import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragforge.errors import TranscriptUnreadable
from ragforge.transcripts import opencode
from ragforge.transcripts.opencode import OPENCODE
from tests.fakes.transcripts.keeping import Keeper
from tests.fakes.transcripts.odd import check_storable, make_odd
from tests.fakes.transcripts.opencode import OpenCode, fill_rich_session, text, tool, write_tree

RICH = [
    [
        "user: Why is the cart wrong?",
        "assistant: I look.",
        "thought: Look first.",
        "call: read",
        "result: a",
        "call: bash",
        "failure: 1 failed",
        "call: invalid",
        "failure: no such tool",
        "call: edit",
        "result: done",
        "call: write",
        "failure: no",
        "user: Thanks.",
        "assistant: Any time.",
    ]
]


def _read_files(folder: Path) -> dict[str, bytes]:
    """Return all but the memory that processes share, which counts readers."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".db-shm"}


def test_messages_have_their_parts_and_their_calls_results(tmp_path: Path) -> None:
    one = OpenCode(tmp_path)
    fill_rich_session(one)
    kept = Keeper().take_in(OPENCODE, one.close())
    assert kept.show() == RICH
    assert kept.facts == {"ses_1": {"cwd": "/work/shop", "version": "1.3.17", "title": "The cart"}}
    assert kept.models == {"sonnet"}
    bash, edit = kept.list_calls()[1], kept.list_calls()[3]
    assert (bash.duration_ms, bash.result and bash.result.error) == (4, "exit code 1")
    assert edit.result is not None
    assert edit.result.result["changes"] == [{"file": "/work/shop/cart.py"}]
    assert not kept.unknown


def test_a_database_that_is_being_written_is_read_and_left_alone(tmp_path: Path) -> None:
    one = OpenCode(tmp_path, wal=True)
    fill_rich_session(one)
    folder = one.path.parent
    before = _read_files(folder)
    assert "opencode.db-wal" in before
    kept = Keeper().take_in(OPENCODE, one.path)
    assert kept.show() == RICH
    assert _read_files(folder) == before
    one.put("user", text("More."))  # and its writer is not held up
    assert kept.take_in(OPENCODE, one.path).show() == [[*RICH[0], "user: More."]]
    one.close()


def test_a_database_without_a_log_stays_without_one(tmp_path: Path) -> None:
    one = OpenCode(tmp_path, wal=True)
    fill_rich_session(one)
    path = one.close()
    assert [file.name for file in path.parent.iterdir()] == ["opencode.db"]
    assert Keeper().take_in(OPENCODE, path).show() == RICH
    assert [file.name for file in path.parent.iterdir()] == ["opencode.db"]


def test_a_log_that_its_writer_left_behind_is_read(tmp_path: Path) -> None:
    one = OpenCode(tmp_path, wal=True)
    fill_rich_session(one)
    left = tmp_path / "left" / "opencode.db"
    left.parent.mkdir()
    for path in one.path.parent.iterdir():
        (left.parent / path.name).write_bytes(path.read_bytes())
    one.close()
    assert Keeper().take_in(OPENCODE, left).show() == RICH


def test_the_stamp_changes_with_the_log(tmp_path: Path) -> None:
    one = OpenCode(tmp_path, wal=True)
    before = OPENCODE.stamp(one.path)
    one.begin()
    assert OPENCODE.stamp(one.path) != before
    one.close()


def test_only_sessions_that_were_touched_are_read_again(tmp_path: Path) -> None:
    one = OpenCode(tmp_path)
    one.begin("ses_1")
    one.put("user", text("One?"), session="ses_1")
    one._number = 60  # an hour later
    one.begin("ses_2")
    one.put("user", text("Two?"), session="ses_2")
    keeper = Keeper().take_in(OPENCODE, one.path)
    one.put("assistant", text("2."), session="ses_2")
    cursor = list(OPENCODE.read(one.path))[-1].cursor
    again = [entry for piece in OPENCODE.read(one.path, cursor) for entry in piece.entries]
    assert {entry.session for entry in again} == {"ses_2"}
    keeper.take_in(OPENCODE, one.path)
    assert keeper.show() == [["user: One?"], ["user: Two?", "assistant: 2."]]
    assert keeper.double == []
    one.close()


def test_a_clock_that_was_set_back_hides_nothing(tmp_path: Path) -> None:
    one = OpenCode(tmp_path)
    one._number = 600
    one.begin()
    one.put("user", text("Late?"))
    keeper = Keeper().take_in(OPENCODE, one.path)
    one._number = 1
    one.connection.execute("UPDATE session SET time_updated = 1")
    one.connection.execute("UPDATE message SET time_updated = 1")
    one.connection.execute("UPDATE part SET time_updated = 1")
    one.begin("ses_2")
    one.put("user", text("Early?"), session="ses_2")
    assert keeper.take_in(OPENCODE, one.path).show() == [["user: Late?"], ["user: Early?"]]
    one.close()


def test_an_answer_waits_until_it_is_complete(tmp_path: Path) -> None:
    one = OpenCode(tmp_path)
    now = int(time.time() * 1000)
    one.begin()
    one.put("user", text("Go."), at=now)
    running = tool("t", "bash", "", status="running")
    name = one.put("assistant", text("I g"), running, at=now, completed=False)
    one._number = 10**6  # another session is touched much later
    one.begin("ses_2")
    keeper = Keeper().take_in(OPENCODE, one.path)
    assert keeper.show() == [["user: Go."]]
    one.put("assistant", text("I go."), tool("t", "bash", "gone"), at=now, name=name)
    keeper.take_in(OPENCODE, one.path)
    assert keeper.show() == [["user: Go.", "assistant: I go.", "call: bash", "result: gone"]]
    one.close()


def test_an_answer_that_was_interrupted_long_ago_is_read(tmp_path: Path) -> None:
    one = OpenCode(tmp_path)
    one.begin()
    one.put("assistant", text("I g"), completed=False)
    assert Keeper().take_in(OPENCODE, one.close()).show() == [["assistant: I g"]]


def test_messages_that_were_taken_out_leave_a_branch(tmp_path: Path) -> None:
    one = OpenCode(tmp_path)
    one.begin()
    one.put("user", text("One?"))
    one.put("assistant", text("1."))
    two = one.put("user", text("Two?"))
    keeper = Keeper().take_in(OPENCODE, one.path)
    one.connection.execute("DELETE FROM message WHERE id = ?", [two])
    one.put("user", text("Three?"))
    keeper.take_in(OPENCODE, one.path)
    assert keeper.show() == [["user: One?", "assistant: 1.", "user: Two?"], ["user: Three?"]]
    first, branch = keeper.conversations.values()
    assert branch.after == first.messages[1].uuid
    one.close()


def test_a_fork_adds_only_its_own_words(tmp_path: Path) -> None:
    one = OpenCode(tmp_path)
    one.begin()
    one.put("user", text("One?"), at=1)
    one.put("assistant", text("1."), tool("t1", "read", "a"), at=2)
    one.put("user", text("Two?"), at=3)
    one.begin("ses_0", title="The cart (fork #1)")  # ids of sessions descend
    one.put("user", text("One?"), session="ses_0", at=1)
    one.put("assistant", text("1."), tool("t1", "read", "a"), session="ses_0", at=2)
    one.put("user", text("Three?"), session="ses_0", at=9)
    kept = Keeper().take_in(OPENCODE, one.close())
    assert kept.show() == [
        ["user: One?", "assistant: 1.", "call: read", "result: a", "user: Two?"],
        ["user: Three?"],
    ]


def test_sessions_that_begin_at_the_same_moment_are_not_forks(tmp_path: Path) -> None:
    one = OpenCode(tmp_path)
    for session in ("ses_1", "ses_2"):
        one.begin(session)
        one.put("user", text(f"Hi, {session}."), session=session, at=1)
    kept = Keeper().take_in(OPENCODE, one.close())
    assert kept.show() == [["user: Hi, ses_1."], ["user: Hi, ses_2."]]


def test_messages_of_the_newer_form_are_read(tmp_path: Path) -> None:
    one = OpenCode(tmp_path)
    one.begin(parent_id="ses_0", title="Child session - 2026-03-02T09:00", directory="")
    one.put_entry("user", text="Hi.")
    one.put_entry("synthetic", text="Not said.")
    state = {"status": "completed", "input": {"path": "a"}, "content": [text("read")]}
    call = {"type": "tool", "id": "t1", "name": "read", "state": state}
    one.put_entry("assistant", content=[text("Hello."), call], model={"id": "sonnet"})
    one.put_entry("telepathy")
    kept = Keeper().take_in(OPENCODE, one.close())
    assert kept.show() == [["user: Hi.", "assistant: Hello.", "call: read", "result: read"]]
    assert kept.facts["ses_1"] == {
        "cwd": "/work/shop",
        "version": "1.3.17",
        "parent": "ses_0",
        "is_subagent": True,
    }
    assert kept.unknown == {"telepathy": 1}


@pytest.mark.parametrize("together", [False, True])
def test_the_tree_of_older_versions_is_read(together: bool, tmp_path: Path) -> None:
    path = write_tree(tmp_path, together=together)
    kept = Keeper().take_in(OPENCODE, path).take_in(OPENCODE, path)
    assert kept.show() == [["user: Hi.", "assistant: Hello."]]
    assert kept.facts["ses_1"]["cwd"] == "/work/shop"
    assert kept.double == []


def test_a_session_that_was_moved_into_the_database_adds_nothing(tmp_path: Path) -> None:
    tree = write_tree(tmp_path)
    one = OpenCode(tmp_path)
    one.begin()
    one.put("user", text("Hi."), name="msg_001")
    one.put("assistant", text("Hello."), name="msg_002")
    path = one.close()
    kept = Keeper().take_in(OPENCODE, path, tree)
    assert kept.show() == [["user: Hi.", "assistant: Hello."]]
    assert OPENCODE.find(tmp_path, {}) == [path, tree]


def test_a_file_that_is_not_a_database_fails_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"This is no database at all, though it is long enough to be one." * 20)
    with pytest.raises(TranscriptUnreadable, match="not a database"):
        Keeper().take_in(OPENCODE, path)


def test_a_large_session_comes_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencode, "PIECE_BYTES", 100)
    one = OpenCode(tmp_path)
    one.begin()
    for number in range(20):
        one.put("user", text(f"Number {number}?" * 5))
    path = one.close()
    pieces = list(OPENCODE.read(path))
    assert len(pieces) > 10
    assert len(Keeper().take_in(OPENCODE, path).show()[0]) == 20
    assert pieces[-1].cursor["since"] > pieces[0].cursor["since"]


def test_pieces_may_be_read_by_one_thread_after_the_other(tmp_path: Path) -> None:
    one = OpenCode(tmp_path)
    fill_rich_session(one)
    pieces = OPENCODE.read(one.close())
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        begun = first.submit(next, pieces).result()
        ended = second.submit(list, pieces).result()
    assert begun.entries
    assert ended == []


def test_odd_values_in_rows_never_stop_the_reader(tmp_path: Path) -> None:
    one = OpenCode(tmp_path)
    fill_rich_session(one)
    state = {"status": "completed", "content": [text("read")]}
    one.begin("ses_2")
    one.put_entry("user", "ses_2", text="Hi.")
    one.put_entry("assistant", "ses_2", content=[{"type": "tool", "id": "t", "state": state}])
    rows = {
        table: one.connection.execute(f"SELECT id, data FROM {table}").fetchall()
        for table in ("message", "part", "session_message")
    }
    for seed in range(80):
        dice = random.Random(seed)
        for table, found in rows.items():
            for name, data in found:
                odd = json.dumps(make_odd(json.loads(data), dice))
                one.connection.execute(f"UPDATE {table} SET data = ? WHERE id = ?", [odd, name])
        check_storable(Keeper().take_in(OPENCODE, one.path))
    one.close()
