"""Cline and Roo: tasks that are rewritten each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.transcripts.cline import CLINE, ROO
from ragforge.transcripts.source import TranscriptSource
from tests.fakes.transcripts.cline import make_rich_task, show, write_task
from tests.fakes.transcripts.files import write_json
from tests.fakes.transcripts.keeping import Keeper

RICH = [
    "user: Fix the cart.",
    "thought: Look first.",
    "assistant: I look.",
    "call: execute_command",
    "result: 1 failed",
    "call: edit_file",
    "result: -a\n+b",
    "assistant: Shall I go on?",
    "user: Yes.",
    "assistant: Fixed.",
]
AGENTS = [(CLINE, "saoudrizwan.claude-dev"), (ROO, "rooveterinaryinc.roo-cline")]


@pytest.mark.parametrize(("source", "extension"), AGENTS)
def test_a_task_grows_as_a_whole(source: TranscriptSource, extension: str, tmp_path: Path) -> None:
    messages = make_rich_task()
    path = write_task(tmp_path, extension, messages[:6])
    keeper = Keeper().take_in(source, path)
    write_task(tmp_path, extension, messages)
    keeper.take_in(source, path)
    assert keeper.show() == [RICH]
    assert keeper.facts["k1"] == {"cwd": "/work/shop"}
    assert keeper.double == []
    assert list(source.find(tmp_path, {})) == [path]
    edit = keeper.list_calls()[1].result
    assert edit is not None
    assert edit.result["changes"] == [{"file": "cart.py"}]


def test_messages_with_roles_are_read_too(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "<task>Fix it.</task>"}]
    messages.append({"role": "assistant", "content": "Fixed."})
    folder = tmp_path / ".cline" / "data" / "sessions" / "k2"
    path = write_json(folder / "k2.messages.json", {"messages": messages})
    assert Keeper().take_in(CLINE, path).show() == [["user: Fix it.", "assistant: Fixed."]]
    assert list(CLINE.find(tmp_path, {})) == [path]


def test_an_answer_that_is_not_complete_waits(tmp_path: Path) -> None:
    messages = [show("text", "Hi.", 0), show("text", "Hel", 1, partial=True)]
    path = write_task(tmp_path, "rooveterinaryinc.roo-cline", messages)
    keeper = Keeper().take_in(ROO, path)
    assert keeper.show() == [["user: Hi."]]
    messages[1] = show("text", "Hello.", 1)
    write_task(tmp_path, "rooveterinaryinc.roo-cline", messages)
    assert keeper.take_in(ROO, path).show() == [["user: Hi.", "assistant: Hello."]]
