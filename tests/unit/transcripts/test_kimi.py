"""Kimi CLI: what its agents put on the wire."""

from __future__ import annotations

from pathlib import Path

from ragforge.transcripts.kimi import KIMI
from tests.fakes.transcripts.files import write_json, write_lines
from tests.fakes.transcripts.keeping import Keeper
from tests.fakes.transcripts.kimi import Kimi, make_older_session, make_rich_session


def test_lines_become_words_calls_and_results(tmp_path: Path) -> None:
    folder = tmp_path / ".kimi-code" / "sessions" / "wd_shop" / "session_1"
    path = write_lines(folder / "agents" / "main" / "wire.jsonl", make_rich_session().lines)
    write_json(folder / "state.json", {"title": "The cart", "workDir": "/work"})
    kept = Keeper().take_in(KIMI, path)
    assert kept.show() == [
        [
            "user: Read it.",
            "thought: Look first.",
            "call: Bash",
            "result: cart.py",
            "call: Edit",
            "failure: no",
            "assistant: Done.",
            "user: Thanks.",
        ]
    ]
    assert kept.facts["session_1"] == {"cwd": "/work/shop", "title": "The cart"}
    assert kept.models == {"kimi-k2"}
    assert not kept.unknown


def test_lines_of_the_first_versions_are_read_too(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s1" / "wire.jsonl", make_older_session())
    kept = Keeper().take_in(KIMI, path)
    assert kept.show() == [
        ["user: Read it.", "thought: Look first.", "call: Read", "result: x", "assistant: Done."]
    ]
    assert not kept.unknown


def test_sub_agents_know_their_parent_and_come_after_it(tmp_path: Path) -> None:
    folder = tmp_path / ".kimi-code" / "sessions" / "wd_shop" / "session_1" / "agents"
    helper = Kimi()
    helper.say("Look into it.")
    child = write_lines(folder / "agent-0" / "wire.jsonl", helper.lines)
    parent = write_lines(folder / "main" / "wire.jsonl", Kimi().lines)
    assert KIMI.find(tmp_path, {}) == [parent, child]
    facts = Keeper().take_in(KIMI, child).facts["session_1/agent-0"]
    assert (facts["parent"], facts["is_subagent"]) == ("session_1", True)


def test_unknown_kinds_are_counted(tmp_path: Path) -> None:
    one = Kimi()
    one.put("telepathy")
    path = write_lines(tmp_path / "s1" / "wire.jsonl", one.lines)
    assert Keeper().take_in(KIMI, path).unknown == {"telepathy": 1}
