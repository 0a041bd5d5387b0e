"""Copilot CLI: events, some of them of sub-agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.transcripts.copilot import COPILOT
from tests.fakes.transcripts.copilot import Copilot, make_rich_session
from tests.fakes.transcripts.keeping import Keeper


def test_events_become_words_calls_and_results(tmp_path: Path) -> None:
    kept = Keeper().take_in(COPILOT, make_rich_session().write(tmp_path))
    assert kept.show() == [
        [
            "user: List the files.",
            "assistant: I look.",
            "thought: Look first.",
            "call: bash",
            "result: cart.py",
            "call: create",
            "failure: no",
            "user: Thanks.",
        ],
        ["assistant: Inside."],
    ]
    facts = {"cwd": "/work/shop", "branch": "main", "version": "1.0.77"}
    facts |= {"remote": "https://example.org/ann/shop"}
    assert kept.facts["p1"] == facts
    assert kept.facts["p1/t3"] == {**facts, "parent": "p1", "is_subagent": True}
    assert kept.models == {"gpt-x"}
    assert kept.list_calls()[0].arguments == {"command": "ls"}
    assert not kept.unknown


@pytest.mark.parametrize("flat", [False, True])
def test_sessions_are_found_in_both_layouts(flat: bool, tmp_path: Path) -> None:
    path = Copilot().write(tmp_path, flat=flat)
    assert COPILOT.find(tmp_path, {}) == [path]
    environ = {"COPILOT_HOME": str(tmp_path / ".copilot")}
    assert COPILOT.find(tmp_path / "nobody", environ) == [path]


def test_unknown_events_are_counted(tmp_path: Path) -> None:
    one = Copilot()
    one.put("telepathy")
    assert Keeper().take_in(COPILOT, one.write(tmp_path)).unknown == {"telepathy": 1}
