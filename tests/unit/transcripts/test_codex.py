"""Codex: what its lines mean, and what they only seem to mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ragforge.errors import TranscriptUnreadable
from ragforge.memory.code.traces import read_edits
from ragforge.transcripts.codex import CODEX
from ragforge.transcripts.edits import hash_text
from ragforge.transcripts.files import load_zstd
from tests.fakes.transcripts.codex import PATCH, Codex
from tests.fakes.transcripts.files import write_lines
from tests.fakes.transcripts.keeping import Keeper


def read(*sessions: Codex, home: Path) -> Keeper:
    return Keeper().take_in(CODEX, *(one.write(home) for one in sessions))


def test_a_turn_has_the_words_the_thoughts_the_calls_and_their_results(tmp_path: Path) -> None:
    one = Codex()
    one.begin_turn("turn-1")
    one.say("Why is the cart wrong?")
    one.think("Look first.")
    one.think("")
    one.call("k1", "shell", command=["pytest"])
    one.give_output("k1", "Exit code: 1\nWall time: 1\nOutput:\n1 failed")
    one.answer("It skips the first item.")
    usage = {"last_token_usage": {"input_tokens": 900, "output_tokens": 42}}
    one.put("event_msg", type="token_count", info=usage)
    one.put("event_msg", type="token_count", info=None)
    kept = read(one, home=tmp_path)
    assert kept.list_messages()[-1].token_count == 42
    assert kept.show() == [
        [
            "user: Why is the cart wrong?",
            "thought: Look first.",
            "call: shell",
            "failure: Exit code: 1\nWall time: 1\nOutput:\n1 failed",
            "assistant: It skips the first item.",
        ]
    ]
    assert kept.facts["c1"] == {
        "cwd": "/work/shop",
        "branch": "main",
        "version": "0.166.0",
        "remote": "https://example.org/shop",
    }
    assert kept.models == {"gpt-x"}
    assert not kept.unknown


@pytest.mark.parametrize(
    ("words", "role"),
    [
        ("Ask before you write.", "developer"),
        ("You are an agent.", "system"),
        ("# AGENTS.md instructions for /work/shop\n\nBe nice.", "user"),
        ("<environment_context><cwd>/work</cwd></environment_context>", "user"),
        ("<user_instructions>Be nice.</user_instructions>", "user"),
        ("<turn_aborted>It was stopped.</turn_aborted>", "user"),
        ("<subagent_notification>done</subagent_notification>", "user"),
        ("Another language model started to solve this problem and produced a summary", "user"),
    ],
)
def test_what_no_user_wrote_is_not_user_text(words: str, role: str, tmp_path: Path) -> None:
    one = Codex()
    one.say(words, role=role)
    one.begin_turn("turn-1")
    one.say("Hello.")
    assert read(one, home=tmp_path).show() == [["user: Hello."]]


def test_the_program_knows_how_a_command_ended(tmp_path: Path) -> None:
    one = Codex()
    one.call("k1", "exec_command", cmd="pytest")
    one.end_command("k1", 2)
    one.give_output("k1", "collected 0 items")
    (done,) = read(one, home=tmp_path).list_calls()
    assert done.result is not None
    assert (done.success, done.duration_ms) == (False, 1500)
    assert done.result.error == "exit code 2"


@pytest.mark.parametrize(
    "output",
    [
        json.dumps({"output": "no", "metadata": {"exit_code": 1}}),
        "Process exited with code 1\nOutput:\nno",
        {"content": "no", "success": False},
        {"stdout": "no", "exitCode": 1},
    ],
)
def test_a_failure_is_seen_in_every_shape_of_an_output(output: object, tmp_path: Path) -> None:
    one = Codex()
    one.call("k1", "shell", command=["true"])
    one.give_output("k1", output)
    (done,) = read(one, home=tmp_path).list_calls()
    assert not done.success


def test_a_patch_names_the_files_that_it_writes(tmp_path: Path) -> None:
    one = Codex()
    one.patch("k1")
    one.give_output("k1", "Success.")
    (done,) = read(one, home=tmp_path).list_calls()
    assert done.result is not None
    added = hash_text("def test_total():\n    pass\n")
    assert done.result.result["changes"] == [
        {"file": "cart.py"},
        {"file": "tests/test_cart.py", "after_hash": added},
    ]


def test_a_patch_in_the_words_of_a_command_is_understood(tmp_path: Path) -> None:
    one = Codex()
    script = "apply_patch <<'E'\n*** Begin Patch\n*** Delete File: old.py\n*** End Patch\nE"
    one.call("k1", "shell", command=["bash", "-lc", script])
    one.give_output("k1", "Success.")
    (done,) = read(one, home=tmp_path).list_calls()
    assert done.result is not None
    assert done.result.result["changes"] == [{"file": "old.py"}]


def test_what_the_program_noted_of_a_patch_has_its_lines(tmp_path: Path) -> None:
    one = Codex()
    one.patch("k1")
    diff = "@@ -1 +1 @@\n-a\n+b"
    changes = {"cart.py": {"type": "update", "unified_diff": diff, "move_path": "till.py"}}
    one.put("event_msg", type="patch_apply_end", call_id="k1", success=True, changes=changes)
    one.give_output("k1", "Success.")
    (done,) = read(one, home=tmp_path).list_calls()
    assert done.result is not None
    assert done.result.result["changes"] == [{"file": "cart.py", "diff": diff}, {"file": "till.py"}]


@pytest.mark.parametrize("turn_ids", [("turn-1", "turn-2", "turn-3"), (None, None, None)])
def test_a_fork_adds_only_its_own_words(
    turn_ids: tuple[str | None, str | None, str | None], tmp_path: Path
) -> None:
    one = Codex("c1")
    one.begin_turn(turn_ids[0])
    one.say("One?")
    one.answer("1.")
    fork = one.fork("c2", forked_from_id="c1")
    one.begin_turn(turn_ids[1])
    one.say("Two?")
    fork.begin_turn(turn_ids[2])
    fork.say("Three?")
    kept = read(one, fork, home=tmp_path)
    assert kept.show() == [["user: One?", "assistant: 1.", "user: Two?"], ["user: Three?"]]
    first, second = kept.conversations.values()
    assert (second.session, second.after) == ("c2", first.messages[1].uuid)
    assert kept.facts["c2"]["parent"] == "c1"
    assert "is_subagent" not in kept.facts["c2"]


def test_a_fork_without_the_head_of_its_parent_adds_only_its_own_words(tmp_path: Path) -> None:
    one = Codex("c1")
    one.say("One?")
    one.answer("1.")
    fork = one.fork("c2", forked_from_id="c1")
    del fork.lines[1]
    fork.say("Two?")
    kept = read(one, fork, home=tmp_path)
    assert kept.show() == [["user: One?", "assistant: 1."], ["user: Two?"]]


def test_a_sub_agent_knows_its_parent(tmp_path: Path) -> None:
    one = Codex("c2", parent_thread_id="c1")
    one.say("Look into it.")
    facts = read(one, home=tmp_path).facts["c2"]
    assert (facts["parent"], facts["is_subagent"]) == ("c1", True)


def test_turns_that_were_rolled_back_become_a_branch(tmp_path: Path) -> None:
    one = Codex()
    for number in ("One", "Two", "Three"):
        one.begin_turn(f"turn-{number}")
        one.say(f"{number}?")
        one.answer(f"{number}.")
    one.put("event_msg", type="thread_rolled_back", num_turns=2)
    one.begin_turn("turn-4")
    one.say("Two, again?")
    kept = read(one, home=tmp_path)
    assert kept.show()[1:] == [["user: Two, again?"]]
    first, branch = kept.conversations.values()
    assert branch.after == first.messages[1].uuid


def test_a_thread_has_the_name_that_it_was_given(tmp_path: Path) -> None:
    one = Codex()
    one.say("Hello.")
    one.put("event_msg", type="thread_name_updated", thread_name="The cart")
    assert read(one, home=tmp_path).facts["c1"]["title"] == "The cart"


def test_lines_of_the_first_versions_are_read_too(tmp_path: Path) -> None:
    content = [{"type": "input_text", "text": "Hello."}]
    lines = [
        {"id": "c0", "timestamp": "2025-05-01T10:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": content},
    ]
    path = write_lines(tmp_path / "rollout-1.jsonl", lines)
    kept = Keeper().take_in(CODEX, path)
    assert kept.show() == [["user: Hello."]]
    assert not kept.unknown


def test_messages_without_a_type_are_known_by_their_role(tmp_path: Path) -> None:
    one = Codex()
    one.put("response_item", role="user", content=[{"type": "input_text", "text": "Hello."}])
    kept = read(one, home=tmp_path)
    assert kept.show() == [["user: Hello."]]
    assert not kept.unknown


def test_a_file_whose_first_line_is_lost_is_known_by_its_name(tmp_path: Path) -> None:
    one = Codex()
    one.say("Hello.")
    del one.lines[0]
    path = write_lines(tmp_path / f"rollout-2026-03-02T09-00-00-{'c' * 36}.jsonl", one.lines)
    (kept,) = Keeper().take_in(CODEX, path).conversations.values()
    assert kept.session == "c" * 36


def test_unknown_kinds_are_counted(tmp_path: Path) -> None:
    one = Codex()
    one.say("Hello.")
    one.put("telepathy")
    one.put("response_item", type="hologram")
    kept = read(one, home=tmp_path)
    assert kept.show() == [["user: Hello."]]
    assert kept.unknown == {"telepathy": 1, "item hologram": 1}


def test_archived_and_packed_sessions_are_found(tmp_path: Path) -> None:
    live = Codex("c2").write(tmp_path)
    archived = Codex("c1").write(tmp_path, "archived_sessions")
    packed = live.with_name("rollout-2026-03-02T09-00-00-c3.jsonl.zst")
    packed.write_bytes(b"")
    live.with_name("notes.jsonl").write_bytes(b"")
    assert list(CODEX.find(tmp_path, {})) == [archived, live, packed]
    environ = {"CODEX_HOME": str(tmp_path / ".codex")}
    assert list(CODEX.find(tmp_path / "nobody", environ)) == [archived, live, packed]


def pack(path: Path) -> Path:
    """Pack a transcript as Codex does, next to itself."""
    library = load_zstd()
    packed = path.with_name(f"{path.name}.zst")
    packed.write_bytes(library.compress(path.read_bytes()))
    return packed


def test_a_packed_session_is_read_as_a_whole(tmp_path: Path) -> None:
    one = Codex()
    one.say("Hello.")
    packed = pack(one.write(tmp_path))
    kept = Keeper().take_in(CODEX, packed).take_in(CODEX, packed)
    assert kept.show() == [["user: Hello."]]


@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: b"no" + data])
def test_a_packed_session_that_is_damaged_says_so(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    one = Codex()
    one.say("Hello.")
    packed = pack(one.write(tmp_path))
    packed.write_bytes(damage(packed.read_bytes()))
    with pytest.raises(TranscriptUnreadable, match="cannot be unpacked"):
        list(CODEX.read(packed))


def count(one: Codex, output: int, total: int) -> None:
    """An event with the tokens of the last answer and of the session."""
    usage = {
        "last_token_usage": {"input_tokens": 900, "output_tokens": output},
        "total_token_usage": {"input_tokens": 900 * total, "output_tokens": total},
    }
    one.put("event_msg", type="token_count", info=usage)


def list_tokens(one: Codex, folder: Path) -> list[int | None]:
    kept = Keeper().take_in(CODEX, one.write(folder))
    return [message.token_count for message in kept.list_messages() if message.role != "user"]


def test_repeated_counts_of_tokens_are_counted_once(tmp_path: Path) -> None:
    one = Codex()
    one.begin_turn("turn-1")
    one.say("Why is the cart wrong?")
    one.think("Look at the sum.")
    one.call("k1", "shell", command=["pytest"])
    count(one, 40, 40)
    one.give_output("k1", "1 failed")
    count(one, 40, 40)  # other limits
    one.answer("I mend it.")
    count(one, 40, 40)
    one.call("k2", "shell", command=["pytest"])
    count(one, 30, 70)
    one.give_output("k2", "1 passed")
    one.begin_turn("turn-2")
    one.say("Thanks.")
    count(one, 30, 70)
    one.answer("Welcome.")
    count(one, 2, 72)
    count(one, 2, 72)
    tokens = list_tokens(one, tmp_path)
    assert tokens == [0, 40, 0, 30, 2]
    assert sum(filter(None, tokens)) == 72


def test_the_sum_of_tokens_is_the_sessions_also_where_an_answer_has_no_items(
    tmp_path: Path,
) -> None:
    one = Codex()
    one.begin_turn("turn-1")
    one.say("Why is the cart wrong?")
    count(one, 5, 5)  # older versions count before the items
    one.answer("The sum.")
    count(one, 7, 12)
    count(one, 11, 23)  # a recap
    one.put("compacted", message="A recap.", replacement_history=[])
    one.say("And now?")
    one.answer("Not counted yet.")
    assert sum(filter(None, list_tokens(one, tmp_path))) == 23


def test_a_fork_takes_no_tokens_from_its_parent(tmp_path: Path) -> None:
    parent = Codex("c1")
    parent.begin_turn("turn-1")
    parent.say("Why is the cart wrong?")
    parent.think("Look at the sum.")
    parent.answer("The sum.")
    count(parent, 40, 40)
    fork = parent.fork("c2", forked_from_id="c1")
    fork.lines = [line for line in fork.lines if line["payload"].get("type") != "token_count"]
    fork.begin_turn("turn-2")
    fork.say("And the tests?")
    fork.answer("They pass.")
    count(fork, 3, 43)
    kept = Keeper().take_in(CODEX, parent.write(tmp_path), fork.write(tmp_path))
    assert sum(message.token_count or 0 for message in kept.list_messages()) == 43


def test_a_patch_is_an_edit_also_if_the_command_behind_it_fails(tmp_path: Path) -> None:
    one = Codex()
    one.begin_turn("turn-1")
    one.say("Fix it and test it.")
    one.call("k1", "shell", command=["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF\npytest"])
    one.end_command("k1", 1)
    one.give_output("k1", "Success. Updated the following files:\nM cart.py\n1 failed")
    one.call("k2", "shell", command=["apply_patch", PATCH])
    one.end_command("k2", 1)
    one.give_output("k2", "Invalid patch")
    done, failed = Keeper().take_in(CODEX, one.write(tmp_path)).list_calls()
    assert [edit.file for edit in read_edits(done)] == ["cart.py", "tests/test_cart.py"]
    assert read_edits(failed) == []
    assert (done.success, failed.success) == (False, False)
