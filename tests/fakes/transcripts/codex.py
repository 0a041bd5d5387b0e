"""Codex's transcripts: lines as it writes them, about an invented shop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes.transcripts.files import format_time, write_lines

PATCH = """*** Begin Patch
*** Update File: cart.py
@@
-a
+b
*** Add File: tests/test_cart.py
+def test_total():
+    pass
*** End Patch"""


class Codex:
    """Writes the lines of a session."""

    def __init__(self, session: str = "c1", **meta: Any) -> None:
        self.session = session
        self.lines: list[dict[str, Any]] = []
        self.put("session_meta", **{**_META, "id": session, **meta})

    def put(self, kind: str, **payload: Any) -> None:
        at = format_time(len(self.lines))
        self.lines.append({"timestamp": at, "type": kind, "payload": payload})

    def begin_turn(self, turn_id: str | None, **context: Any) -> None:
        given = {"turn_id": turn_id} if turn_id else {}
        self.put("turn_context", cwd="/work/shop", model="gpt-x", **given, **context)

    def say(self, words: str, role: str = "user") -> None:
        content = [{"type": "input_text", "text": words}]
        self.put("response_item", type="message", role=role, content=content)
        if role == "user":  # the same again, for the screen
            self.put("event_msg", type="user_message", message=words)

    def answer(self, words: str) -> None:
        content = [{"type": "output_text", "text": words}]
        self.put("event_msg", type="agent_message", message=words)
        self.put("response_item", type="message", role="assistant", content=content)

    def think(self, words: str) -> None:
        summary = [{"type": "summary_text", "text": words}] if words else []
        self.put("response_item", type="reasoning", summary=summary, encrypted_content="gAAA")

    def call(self, call_id: str, name: str, **arguments: Any) -> None:
        given = json.dumps(arguments)
        self.put("response_item", type="function_call", name=name, arguments=given, call_id=call_id)

    def end_command(self, call_id: str, code: int) -> None:
        took = {"secs": 1, "nanos": 500_000_000}
        self.put(
            "event_msg", type="exec_command_end", call_id=call_id, exit_code=code, duration=took
        )

    def give_output(self, call_id: str, output: Any) -> None:
        self.put("response_item", type="function_call_output", call_id=call_id, output=output)

    def patch(self, call_id: str, patch: str = PATCH) -> None:
        self.put(
            "response_item",
            type="custom_tool_call",
            name="apply_patch",
            input=patch,
            call_id=call_id,
            status="completed",
        )

    def fork(self, session: str, **meta: Any) -> Codex:
        """Return a session that begins with a copy of this one under new times."""
        other = Codex(session, **meta)
        for line in self.lines:
            other.put(line["type"], **line["payload"])
        return other

    def write(self, home: Path, folder: str = "sessions/2026/03/02") -> Path:
        name = f"rollout-2026-03-02T09-00-00-{self.session}.jsonl"
        return write_lines(home / ".codex" / folder / name, self.lines)


_META = {
    "cwd": "/work/shop",
    "cli_version": "0.166.0",
    "originator": "codex_cli_rs",
    "instructions": "Long words. " * 100,
    "git": {"branch": "main", "commit_hash": "f00", "repository_url": "https://example.org/shop"},
}


def make_rich_session() -> Codex:
    """Return a session with every kind of line and every trap."""
    one = Codex()
    one.say("<permissions instructions>Ask.</permissions instructions>", role="developer")
    one.say("# AGENTS.md instructions for /work/shop\n\n<INSTRUCTIONS>Be nice.</INSTRUCTIONS>")
    one.say("<environment_context>\n  <cwd>/work/shop</cwd>\n</environment_context>")
    one.begin_turn("turn-1")
    one.say("Why is the cart total wrong?")
    one.think("Look at the sum first.")
    one.think("")
    one.call("k1", "shell", command=["pytest"])
    one.end_command("k1", 1)
    one.give_output("k1", json.dumps({"output": "1 failed", "metadata": {"exit_code": 1}}))
    one.patch("k2")
    changes = {"cart.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b"}}
    one.put("event_msg", type="patch_apply_end", call_id="k2", success=True, changes=changes)
    one.put("response_item", type="custom_tool_call_output", call_id="k2", output="Success.")
    one.answer("Fixed.")
    one.put("event_msg", type="token_count", info=None)
    one.put("compacted", message="A recap.", replacement_history=[])
    one.begin_turn("turn-2")
    one.say("Now explain it.")
    one.answer("The sum skipped the first item.")
    one.put("event_msg", type="thread_rolled_back", num_turns=1)
    one.begin_turn("turn-3")
    one.say("Explain it for a child.")
    one.answer("We counted from two.")
    one.put("event_msg", type="thread_name_updated", thread_name="The cart")
    return one
