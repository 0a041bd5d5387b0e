"""Gemini CLI: messages that are written again, and sessions that are rewound."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from ragforge.errors import TranscriptUnreadable
from ragforge.transcripts.edits import hash_text
from ragforge.transcripts.gemini import GEMINI
from tests.fakes.transcripts.files import write_json, write_lines
from tests.fakes.transcripts.gemini import Gemini, call, make_rich_session
from tests.fakes.transcripts.keeping import Keeper

RICH = [
    [
        "user: Why is @cart.py wrong?",
        "assistant: I look.",
        "thought: Sum: Look at it first.",
        "call: read_file",
        "result: x = 1",
        "call: replace",
        "failure: no",
        "call: write_file",
        "result: done",
        "assistant: Fixed.",
        "user: Now explain it.",
        "assistant: It skipped the first item.",
    ],
    ["user: Explain it for a child.", "assistant: We counted from two."],
]


def test_every_message_and_call_is_read_once(tmp_path: Path) -> None:
    kept = Keeper().take_in(GEMINI, make_rich_session().write(tmp_path))
    assert kept.show() == RICH
    assert kept.facts["g1"] == {"cwd": "/work/shop", "title": "The cart"}
    assert kept.models == {"pro"}
    assert not kept.unknown


def test_a_rewind_becomes_a_branch(tmp_path: Path) -> None:
    kept = Keeper().take_in(GEMINI, make_rich_session().write(tmp_path))
    first, branch = kept.conversations.values()
    assert branch.after == first.messages[-3].uuid


def test_a_written_file_is_known_by_its_content(tmp_path: Path) -> None:
    kept = Keeper().take_in(GEMINI, make_rich_session().write(tmp_path))
    written = kept.list_calls()[2]
    assert written.result is not None
    change = {"file": "cart.py", "after_hash": hash_text("x = 2\n")}
    assert written.result.result["changes"] == [change]


def test_a_call_that_runs_gets_its_result_when_it_is_written_again(tmp_path: Path) -> None:
    one = Gemini()
    one.say("Read it.")
    one.answer("", call("t", "read_file"), name="a")
    path = one.write(tmp_path)
    kept = Keeper().take_in(GEMINI, path)
    assert kept.show() == [["user: Read it.", "call: read_file"]]
    one.answer("", call("t", "read_file", "x = 1"), name="a")
    one.write(tmp_path)
    kept.take_in(GEMINI, path)
    assert kept.show() == [["user: Read it.", "call: read_file", "result: x = 1"]]


def test_messages_may_be_only_in_a_checkpoint(tmp_path: Path) -> None:
    one = Gemini()
    words, answer = one.say("Hi."), one.answer("Hello.")
    recap = one.say("<state_snapshot>They greeted.</state_snapshot>")
    one.lines = [one.head, {"$set": {"messages": [recap, words, answer]}}]
    kept = Keeper().take_in(GEMINI, one.write(tmp_path))
    assert kept.show() == [["user: Hi.", "assistant: Hello."]]


def test_a_file_of_older_versions_grows_as_a_whole(tmp_path: Path) -> None:
    one = Gemini()
    one.say("Hi.")
    one.answer("Hello.", call("t", "read_file"))
    path = one.write_whole(tmp_path)
    kept = Keeper().take_in(GEMINI, path)
    one.say("Bye.")
    one.write_whole(tmp_path)
    kept.take_in(GEMINI, path)
    assert kept.show() == [["user: Hi.", "assistant: Hello.", "call: read_file", "user: Bye."]]
    assert kept.double == []


def test_a_file_that_is_half_written_fails_with_its_reason(tmp_path: Path) -> None:
    path = Gemini().write_whole(tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(TranscriptUnreadable, match="not written to its end"):
        Keeper().take_in(GEMINI, path)


@pytest.mark.parametrize("folder", ["short", sha256(b"/work/shop").hexdigest()])
def test_the_project_is_found_by_the_name_of_its_folder(folder: str, tmp_path: Path) -> None:
    write_json(tmp_path / ".gemini" / "projects.json", {"projects": {"/work/shop": "short"}})
    one = Gemini()
    one.say("Hi.")
    kept = Keeper().take_in(GEMINI, one.write(tmp_path, folder))
    assert kept.facts["g1"]["cwd"] == "/work/shop"


def test_the_project_is_found_by_the_mark_in_its_folder(tmp_path: Path) -> None:
    one = Gemini()
    one.say("Hi.")
    path = one.write(tmp_path)
    (path.parent.parent / ".project_root").write_text("/work/shop\n")
    assert Keeper().take_in(GEMINI, path).facts["g1"]["cwd"] == "/work/shop"


def test_sub_agents_know_their_parent_and_come_after_it(tmp_path: Path) -> None:
    parent = Gemini("g1").write(tmp_path)
    helper = Gemini("g2", kind="subagent")
    helper.say("Look into it.")
    path = write_lines(parent.parent / "g1" / "g2.jsonl", helper.lines)
    (parent.parent.parent / "logs.json").write_text("[]")
    assert list(GEMINI.find(tmp_path, {})) == [parent, path]
    facts = Keeper().take_in(GEMINI, path).facts["g2"]
    assert (facts["parent"], facts["is_subagent"]) == ("g1", True)


def test_unknown_kinds_are_counted(tmp_path: Path) -> None:
    one = Gemini()
    one.note("telepathy", "hm")
    one.put(strange=True)
    kept = Keeper().take_in(GEMINI, one.write(tmp_path))
    assert kept.unknown == {"telepathy": 1, "without a type": 1}
