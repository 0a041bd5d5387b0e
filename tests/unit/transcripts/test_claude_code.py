"""Claude Code: what its lines mean, and what they only seem to mean."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ragforge.transcripts.claude_code import CLAUDE_CODE
from ragforge.transcripts.edits import hash_text
from tests.fakes.transcripts.claude_code import Claude, call, edit_result, find_folder, text, think
from tests.fakes.transcripts.files import write_json, write_lines
from tests.fakes.transcripts.keeping import Keeper


def read(*sessions: Claude, home: Path) -> Keeper:
    return Keeper().take_in(CLAUDE_CODE, *(one.write(home) for one in sessions))


def test_a_turn_has_the_words_the_thoughts_the_calls_and_their_results(tmp_path: Path) -> None:
    one = Claude()
    one.say("Why is the cart wrong?")
    one.answer(think("Look first."), "I look.", call("t1", "Read", file_path="cart.py"))
    one.give_result("t1", [text("def total(): ...")])
    one.answer(call("t2", "Bash", command="pytest"))
    one.give_result("t2", "1 failed", is_error=True)
    one.answer("It skips the first item.")
    kept = read(one, home=tmp_path)
    assert kept.show() == [
        [
            "user: Why is the cart wrong?",
            "assistant: I look.",
            "thought: Look first.",
            "call: Read",
            "result: def total(): ...",
            "call: Bash",
            "failure: 1 failed",
            "assistant: It skips the first item.",
        ]
    ]
    assert kept.facts["s1"] == {"cwd": "/work/shop", "branch": "main", "version": "2.1.239"}
    assert kept.models == {"opus"}
    assert not kept.unknown


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        ("Caveat: ran on its own", {"isMeta": True}),
        ("This session is being continued from a previous conversation that ran out", {}),
        ("A recap of it all", {"isCompactSummary": True}),
        ("Only seen", {"isVisibleInTranscriptOnly": True}),
        ("Wake up", {"promptSource": "system"}),
        ("<system-reminder>Be nice.</system-reminder>", {}),
        ("<ide_opened_file>cart.py</ide_opened_file>", {}),
        ("<local-command-stdout>ok</local-command-stdout>", {}),
        ("<user-prompt-submit-hook>ok</user-prompt-submit-hook>", {}),
        ("<task-notification>done</task-notification>", {}),
        ("<task-notification>done</task-notification>\nFull transcript available at: /tmp/a", {}),
        ("Operation stopped by hook: not now", {}),
        ("<ragforge-memory>\nRecalled: buy milk.\n</ragforge-memory>", {}),
        ("<ragforge-memory>\nRecalled, and cut", {}),
        ("[Request interrupted by user for tool use]", {}),
        ("<command-name>/exit</command-name>\n<command-args></command-args>", {}),
        ("<command-name>/clear</command-name>\n<command-message>clear</command-message>", {}),
    ],
)
def test_what_no_user_wrote_is_not_user_text(
    words: str, extra: dict[str, Any], tmp_path: Path
) -> None:
    one = Claude()
    one.say("Hello.")
    one.say(words, **extra)
    one.answer("Hello!")
    assert read(one, home=tmp_path).show() == [["user: Hello.", "assistant: Hello!"]]


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("<ide_opened_file>cart.py</ide_opened_file>\nFix it.", "Fix it."),
        ("Fix it.\n<system-reminder>Be nice.</system-reminder>", "Fix it."),
        ("<ragforge-memory>milk</ragforge-memory>Fix it.", "Fix it."),
        (
            "<command-message>review</command-message><command-name>/review</command-name>"
            "<command-args>the cart</command-args>",
            "/review the cart",
        ),
        (
            "<command-message>review</command-message>\n<command-name>/review</command-name>",
            "/review",
        ),
        ("What does <div> do?", "What does <div> do?"),
    ],
)
def test_a_users_words_are_separated_from_the_text_around_them(
    written: str, typed: str, tmp_path: Path
) -> None:
    one = Claude()
    one.say(written)
    assert read(one, home=tmp_path).show() == [[f"user: {typed}"]]


def test_words_typed_while_the_agent_works_begin_a_turn(tmp_path: Path) -> None:
    one = Claude()
    one.say("Fix it.")
    prompt = {"type": "queued_command", "prompt": "And add a test."}
    one.put(type="attachment", sessionId="s1", attachment=prompt, timestamp="2026-03-02T09:01:00Z")
    one.put(type="attachment", sessionId="s1", attachment={"type": "task_reminder"})
    one.answer("Done.")
    kept = read(one, home=tmp_path)
    assert kept.show() == [["user: Fix it.", "user: And add a test.", "assistant: Done."]]


def test_an_answer_on_several_lines_is_read_once(tmp_path: Path) -> None:
    one = Claude()
    one.say("Hi.")
    one.answer("Hel", message="m", requestId="r", tokens=2)
    one.answer("Hello", message="m", requestId="r", tokens=5)
    one.answer("Hello", call("t", "Read"), message="m", requestId="r", tokens=9)
    one.answer(call("t", "Read"), message="m", requestId="r", tokens=9)
    kept = read(one, home=tmp_path)
    assert kept.show() == [["user: Hi.", "assistant: Hel", "assistant: lo", "call: Read"]]
    (conversation,) = kept.conversations.values()
    assert sum(message.token_count or 0 for message in conversation.messages) == 9


def test_an_answer_that_was_taken_back_is_no_longer_found(tmp_path: Path) -> None:
    one = Claude()
    one.say("Hi.")
    partial = one.answer("Hel")
    one.answer("Hello.", supersedesUuids=[partial])
    other = one.answer("Never mind")
    one.note("system", subtype="model_refusal_fallback", retractedMessageUuids=[other])
    assert read(one, home=tmp_path).show() == [["user: Hi.", "assistant: Hello."]]


def test_a_message_that_the_program_wrote_itself_is_not_an_answer(tmp_path: Path) -> None:
    one = Claude()
    one.say("Hi.")
    one.answer("API Error: 529", isApiErrorMessage=True)
    assert read(one, home=tmp_path).show() == [["user: Hi."]]


def test_a_rewind_becomes_a_branch_at_the_message_before_it(tmp_path: Path) -> None:
    one = Claude()
    one.say("One?")
    one.answer("1.")
    silent = one.note("system", subtype="turn_duration")
    one.say("Two?")
    one.answer("2.")
    one.say("Two, in words?", after=silent)
    one.answer("Two.")
    one.say("And three?")
    kept = read(one, home=tmp_path)
    assert kept.show() == [
        ["user: One?", "assistant: 1.", "user: Two?", "assistant: 2."],
        ["user: Two, in words?", "assistant: Two.", "user: And three?"],
    ]
    first, branch = kept.conversations.values()
    assert branch.after == first.messages[1].uuid
    assert [message.turn_index for message in branch.messages] == [1, 1, 2]


def test_a_restarted_session_becomes_a_branch_without_a_past(tmp_path: Path) -> None:
    one = Claude()
    one.say("One?", after=None)
    one.answer("1.")
    one.say("Two?", after=None)
    one.answer("2.")
    kept = read(one, home=tmp_path)
    assert kept.show() == [["user: One?", "assistant: 1."], ["user: Two?", "assistant: 2."]]
    assert [one.after for one in kept.conversations.values()] == [None, None]


def test_a_compaction_does_not_break_the_session(tmp_path: Path) -> None:
    one = Claude()
    one.say("One?")
    last = one.answer("1.")
    one.note("system", subtype="compact_boundary", after=None, logicalParentUuid=last)
    one.say("A recap.", isCompactSummary=True)
    one.say("Two?")
    assert read(one, home=tmp_path).show() == [["user: One?", "assistant: 1.", "user: Two?"]]


def test_a_fork_adds_only_its_own_words(tmp_path: Path) -> None:
    one = Claude("s1")
    one.say("One?")
    one.answer("1.", call("t", "Read"))
    one.give_result("t", "read")
    fork = one.fork("s2")
    one.say("Two?")
    fork.say("Three?")
    kept = read(one, fork, home=tmp_path)
    assert kept.show() == [
        ["user: One?", "assistant: 1.", "call: Read", "result: read", "user: Two?"],
        ["user: Three?"],
    ]
    first, second = kept.conversations.values()
    assert second.session == "s2"
    assert second.after == first.messages[1].uuid
    assert kept.double == []


def test_a_sub_agent_next_to_its_parent_is_a_separate_session(tmp_path: Path) -> None:
    one = Claude("s1")
    one.say("Ask a helper.")
    helper = Claude("s1", isSidechain=True, agentId="a7")
    helper.lines = []
    helper.say("Look into the cart.", uuid="h0")
    helper.answer("I looked.", uuid="h1", after="h0")
    folder = find_folder(tmp_path) / "s1" / "subagents"
    path = write_lines(folder / "agent-a7.jsonl", helper.lines)
    write_json(folder / "agent-a7.meta.json", {"description": "Look into it"})
    kept = Keeper().take_in(CLAUDE_CODE, one.write(tmp_path), path)
    assert kept.show() == [
        ["user: Ask a helper."],
        ["user: Look into the cart.", "assistant: I looked."],
    ]
    facts = kept.facts["s1/a7"]
    assert (facts["parent"], facts["is_subagent"]) == ("s1", True)
    assert facts["title"] == "Look into it"
    assert CLAUDE_CODE.find(tmp_path, {}) == [find_folder(tmp_path) / "s1.jsonl", path]


def test_side_chains_in_the_file_of_their_parent_are_separate_sessions(tmp_path: Path) -> None:
    one = Claude("s1")
    question = one.say("Ask two helpers.")
    first = one.say("Look left.", after=None, isSidechain=True)
    second = one.say("Look right.", after=None, isSidechain=True)
    one.answer("Left is fine.", after=first, isSidechain=True)
    one.answer("Right is fine.", after=second, isSidechain=True)
    one.answer("Both are fine.", after=question)
    kept = read(one, home=tmp_path)
    assert kept.show() == [
        ["user: Ask two helpers.", "assistant: Both are fine."],
        ["user: Look left.", "assistant: Left is fine."],
        ["user: Look right.", "assistant: Right is fine."],
    ]
    assert kept.facts[f"s1/{first}"]["parent"] == "s1"


def test_an_edit_knows_the_file_before_and_after_it(tmp_path: Path) -> None:
    one = Claude()
    one.answer(call("t", "Edit", file_path="/work/shop/cart.py"))
    changed = edit_result("/work/shop/cart.py", "a\nc\n", "a", "b")
    one.give_result("t", "updated", toolUseResult=changed)
    (done,) = read(one, home=tmp_path).list_calls()
    assert done.result is not None
    assert done.result.result == {
        "output": "updated",
        "changes": [
            {
                "file": "/work/shop/cart.py",
                "before_hash": hash_text("a\nc\n"),
                "after_hash": hash_text("b\nc\n"),
                "diff": "@@ -1,1 +1,1 @@\n-a\n+b",
            }
        ],
    }


def test_several_edits_at_once_are_done_one_after_the_other(tmp_path: Path) -> None:
    one = Claude()
    one.answer(call("t", "MultiEdit", file_path="cart.py"))
    steps = [
        {"old_string": "a", "new_string": "b"},
        {"old_string": "b", "new_string": "c", "replace_all": True},
    ]
    result = {"filePath": "cart.py", "edits": steps, "originalFileContents": "a b"}
    one.give_result("t", "updated", toolUseResult=result)
    (done,) = read(one, home=tmp_path).list_calls()
    assert done.result is not None
    (change,) = done.result.result["changes"]
    assert change["after_hash"] == hash_text("c c")


def test_a_written_file_is_known_by_the_arguments_of_its_call(tmp_path: Path) -> None:
    one = Claude()
    one.answer(call("t", "Write", file_path="cart.py", content="new\n"))
    one.give_result("t", "written")
    one.answer(call("u", "Write", file_path="other.py", content="new\n"))
    one.give_result("u", "not allowed", is_error=True)
    written, refused = read(one, home=tmp_path).list_calls()
    assert written.result is not None
    assert refused.result is not None
    assert written.result.result["changes"] == [
        {"file": "cart.py", "after_hash": hash_text("new\n")}
    ]
    assert refused.result.result == "not allowed"


def test_unknown_kinds_are_counted_and_keep_the_chain(tmp_path: Path) -> None:
    one = Claude()
    one.say("One?")
    one.answer({"type": "hologram"}, "1.")
    one.note("telepathy")
    one.say([{"type": "smell"}, text("Two?")])
    one.put(no="type")
    kept = read(one, home=tmp_path)
    assert kept.show() == [["user: One?", "assistant: 1.", "user: Two?"]]
    assert kept.unknown == {
        "telepathy": 1,
        "assistant block hologram": 1,
        "user block smell": 1,
        "without a type": 1,
    }


def test_a_fork_is_read_after_the_session_that_it_repeats(tmp_path: Path) -> None:
    one = Claude("z-older")
    one.say("One?")
    older, fork = one.write(tmp_path), one.fork("a-fork").write(tmp_path)
    os.utime(older, (1, 1))
    assert list(CLAUDE_CODE.find(tmp_path, {})) == [older, fork]


def test_the_configuration_folder_may_be_another_one(tmp_path: Path) -> None:
    path = Claude().write(tmp_path)
    assert list(CLAUDE_CODE.find(tmp_path / "nobody", {})) == []
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    assert list(CLAUDE_CODE.find(tmp_path / "nobody", environ)) == [path]
