"""Cursor: lines that have only roles, and a database with the same."""

from __future__ import annotations

import os
from pathlib import Path

from ragforge.transcripts.cursor import CURSOR
from tests.fakes.transcripts.cursor import make_rich_session, say, write_store
from tests.fakes.transcripts.files import write_lines
from tests.fakes.transcripts.keeping import Keeper

RICH = [
    [
        "user: List the files.",
        "assistant: I look.",
        "thought: Look first.",
        "call: Bash",
        "result: a",
        "assistant: There is a.",
        "user: Thanks.",
    ]
]


def find_folder(home: Path) -> Path:
    return home / ".cursor" / "projects" / "work-shop" / "agent-transcripts"


def test_lines_become_words_calls_and_results(tmp_path: Path) -> None:
    path = write_lines(find_folder(tmp_path) / "c1" / "c1.jsonl", make_rich_session())
    os.utime(path, (1_800_000_000, 1_800_000_000))  # lines have no times
    kept = Keeper().take_in(CURSOR, path)
    assert kept.show() == RICH
    (conversation,) = kept.conversations.values()
    assert conversation.messages[0].timestamp.timestamp() == 1_800_000_000
    assert not kept.unknown


def test_the_same_words_twice_are_two_messages(tmp_path: Path) -> None:
    lines = [say("user", "Go on."), say("assistant", "Done.")] * 2
    kept = Keeper().take_in(CURSOR, write_lines(find_folder(tmp_path) / "c1.jsonl", lines))
    assert kept.show() == [["user: Go on.", "assistant: Done."] * 2]


def test_a_database_is_read_where_there_are_no_lines(tmp_path: Path) -> None:
    messages = [{"role": m["role"], **m["message"]} for m in make_rich_session() if "role" in m]
    chats = tmp_path / ".cursor" / "chats" / "f00"
    store = write_store(chats / "c1" / "store.db", messages)
    other = write_store(chats / "c2" / "store.db", [])
    lines = write_lines(find_folder(tmp_path) / "c2.jsonl", [])
    assert CURSOR.find(tmp_path, {}) == [lines, store]
    assert CURSOR.fits(other)
    kept = Keeper().take_in(CURSOR, store).take_in(CURSOR, store)
    assert kept.show() == RICH
    assert kept.facts["c1"] == {"title": "The cart"}
    assert CURSOR.stamp(store) == CURSOR.stamp(store)


def test_sub_agents_know_their_parent(tmp_path: Path) -> None:
    folder = find_folder(tmp_path) / "c1" / "subagents"
    path = write_lines(folder / "h1.jsonl", [say("user", "Look.")])
    facts = Keeper().take_in(CURSOR, path).facts["c1/h1"]
    assert facts == {"parent": "c1", "is_subagent": True}


def test_the_folder_of_a_project_may_have_a_dash_in_its_name(tmp_path: Path) -> None:
    shop = tmp_path.resolve() / "my-shop"
    (shop / "web").mkdir(parents=True)
    name = "-".join((shop / "web").parts[1:]).replace("/", "-")
    path = tmp_path / ".cursor" / "projects" / name / "agent-transcripts" / "c1.jsonl"
    write_lines(path, [say("user", "Look.")])
    assert Keeper().take_in(CURSOR, path).facts["c1"]["cwd"] == str(shop / "web")
    (tmp_path / "my" / "shop" / "web").mkdir(parents=True)  # now it may be either
    assert "cwd" not in Keeper().take_in(CURSOR, path).facts.get("c1", {})
