"""Qwen Code: Claude's envelope around Gemini's parts."""

from __future__ import annotations

from pathlib import Path

from ragforge.transcripts.qwen import QWEN
from tests.fakes.transcripts.keeping import Keeper
from tests.fakes.transcripts.qwen import Qwen, make_rich_session


def test_lines_become_words_calls_and_results_and_a_rewind_a_branch(tmp_path: Path) -> None:
    kept = Keeper().take_in(QWEN, make_rich_session().write(tmp_path))
    assert kept.show() == [
        [
            "user: Read it.",
            "thought: Look first.",
            "call: read_file",
            "result: x = 1",
            "assistant: It says x = 1.",
            "user: Why?",
            "assistant: Because.",
        ],
        ["user: How?"],
    ]
    first, branch = kept.conversations.values()
    assert branch.after == first.messages[3].uuid
    assert kept.facts["q1"] == {
        "cwd": "/work/shop",
        "branch": "main",
        "version": "0.21.13",
        "title": "The cart",
    }
    assert kept.models == {"coder"}
    assert not kept.unknown


def test_a_call_that_failed_says_so(tmp_path: Path) -> None:
    one = Qwen()
    one.put("assistant", {"functionCall": {"id": "t", "name": "edit", "args": {}}})
    response = {"functionResponse": {"id": "t", "response": {"error": "no such file"}}}
    one.put("tool_result", response)
    one.put("telepathy")
    path = one.write(tmp_path)
    kept = Keeper().take_in(QWEN, path)
    assert kept.show() == [["call: edit", "failure: no such file"]]
    assert kept.unknown == {"telepathy": 1}
    assert QWEN.find(tmp_path, {}) == [path]
