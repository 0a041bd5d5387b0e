"""An agent that reads or edits a file hears what was decided about it, from imported sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.remembered_shop import make_environ, read_context, run_ragforge
from tests.fakes.repositories import make_repository
from tests.fakes.transcripts.claude_code import Claude, call, edit_result

ASKED = "Set the cookie on the parent domain, as decided with Bob"
PATCH = "*** Begin Patch\n*** Update File: src/login.py\n@@\n-a\n+b\n*** End Patch\n"


class Shop:
    """A project whose past sessions were imported and whose code was never read by RagForge."""

    def __init__(self, home: Path) -> None:
        self.root = make_repository(home / "shop", {"src/login.py": "a\n", "src/cart.py": "x\n"})
        self.environ = {**make_environ(home), "XDG_DATA_HOME": str(home / "data")}
        past = Claude("past", cwd=str(self.root))
        past.say(ASKED)
        past.answer(call("t", "Edit", file_path=self.name("src/login.py"), old_string="a"))
        past.give_result("t", "ok", toolUseResult=edit_result(self.name("src/login.py"), *"aab"))
        past.write(home)
        self.run("import", "--from", "claude-code")

    def name(self, file: str) -> str:
        return str(self.root / file)

    def run(self, *arguments: str, given: object = None) -> str:
        return run_ragforge(self.root, self.environ, *arguments, given=given)

    def hear(self, agent: str, session: str, event: str, **given: Any) -> str:
        """Return what an agent hears when it calls the hook as it does for a tool."""
        heard = self.run(
            *("hook", "--agent", agent),
            given={
                "session_id": session,
                "transcript_path": None,
                "cwd": str(self.root),
                "hook_event_name": event,
                "tool_use_id": "toolu_01",
                **given,
            },
        )
        assert not heard or json.loads(heard)["hookSpecificOutput"]["hookEventName"] == event
        return read_context(heard)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_claude_code_hears_once_in_a_session_who_edited_a_file_and_why(shop: Shop) -> None:
    login = shop.name("src/login.py")
    read = {"tool_name": "Read", "tool_input": {"file_path": login}}
    seen = {"tool_response": {"type": "text", "file": {"filePath": login, "content": "a"}}}
    edit = {"tool_name": "Edit", "tool_input": {"file_path": login, "old_string": "a"}}
    new = {"tool_name": "Write", "tool_input": {"file_path": shop.name("src/new.py")}}

    first = shop.hear("claude-code", "s1", "PostToolUse", **read, **seen)

    assert (
        f"2026-03-02, claude-code, session {first.partition('session ')[2][:8]}: {ASKED}" in first
    )
    assert "edited in 1 turn of 1 session:" in first
    assert shop.hear("claude-code", "s1", "PostToolUse", **edit) == ""
    assert ASKED in shop.hear("claude-code", "s2", "PreToolUse", **edit)
    assert shop.hear("claude-code", "s2", "PostToolUse", **new) == ""
    assert shop.hear("claude-code", "past", "PostToolUse", **read) == ""  # it said so itself


@pytest.mark.parametrize("given", [{"command": PATCH}, {"input": PATCH}, PATCH])
def test_codex_hears_it_of_the_files_of_a_patch(shop: Shop, given: Any) -> None:
    patch = {"tool_name": "apply_patch", "tool_input": given, "turn_id": "1", "model": "gpt"}

    assert ASKED in shop.hear("codex", "c1", "PostToolUse", **patch)
    assert shop.hear("codex", "c1", "PostToolUse", **patch) == ""
