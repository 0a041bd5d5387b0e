"""goose: numbered messages in a database."""

from __future__ import annotations

from pathlib import Path

from ragforge.transcripts.goose import GOOSE
from tests.fakes.transcripts.goose import Goose, fill_rich_session
from tests.fakes.transcripts.keeping import Keeper

RICH = [
    "user: Read it.",
    "assistant: I look.",
    "thought: Look first.",
    "call: developer__shell",
    "result: cart.py",
    "call: developer__shell",
    "failure: no",
    "assistant: Done.",
]


def test_rows_become_words_calls_and_results(tmp_path: Path) -> None:
    one = Goose(tmp_path)
    fill_rich_session(one)
    kept = Keeper().take_in(GOOSE, one.path)
    assert kept.show() == [RICH]
    assert kept.facts["s1"] == {"cwd": "/work/shop", "title": "The cart"}
    assert kept.models == {"sonnet"}
    assert not kept.unknown
    assert GOOSE.find(tmp_path, {}) == [one.path]
    root = {"GOOSE_PATH_ROOT": str(tmp_path)}
    assert GOOSE.find(tmp_path, root) == []


def test_sessions_that_grow_in_turns_are_continued(tmp_path: Path) -> None:
    one = Goose(tmp_path)
    fill_rich_session(one)
    one.begin("s2", session_type="sub_agent")
    one.put("s2", "user", "Two?")
    keeper = Keeper().take_in(GOOSE, one.path)
    one.put("s1", "user", "Thanks.")
    one.put("s2", "assistant", "2.", {"type": "telepathy"})
    keeper.take_in(GOOSE, one.path)
    assert keeper.show() == [[*RICH, "user: Thanks."], ["user: Two?", "assistant: 2."]]
    assert keeper.facts["s2"]["is_subagent"]
    assert keeper.unknown == {"block telepathy": 1}
    assert keeper.double == []
