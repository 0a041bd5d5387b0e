"""The whole way: agents are connected, ask as they do, get context, and are left as they were."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ragforge.cli.main import run
from tests.unit.connect.conftest import home, read_all
from tests.unit.connect.test_hook import PROMPT, SAID, project

__all__ = ["home", "project"]


def test_claude_code_and_codex_get_context_and_their_home_is_as_it_was(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_all(home)
    monkeypatch.setenv("RAGFORGE_HOOK__DEADLINE_MS", "60000")
    assert run(["connect", "--yes", "claude-code", "codex"]) == 0

    for agent, file in (("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json")):
        text = (home / file).read_text().replace("// mine", "")
        (entry,) = json.loads(text)["hooks"]["UserPromptSubmit"]
        command = entry["hooks"][0]["command"]
        call = {
            "session_id": f"{agent}-1",
            "transcript_path": None,
            "cwd": str(project),
            "hook_event_name": "UserPromptSubmit",
            "prompt": PROMPT,
        }
        answer = subprocess.run(
            command, shell=True, input=json.dumps(call), capture_output=True, text=True, check=True
        )
        context = json.loads(answer.stdout)["hookSpecificOutput"]
        assert context["hookEventName"] == "UserPromptSubmit"
        assert SAID in context["additionalContext"]

    assert run(["disconnect", "--yes"]) == 0
    assert read_all(home) == before
