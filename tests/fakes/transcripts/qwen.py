"""Qwen Code's transcripts, about an invented shop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fakes.transcripts.files import format_time, write_lines


class Qwen:
    """Writes the lines of a session; each follows the one before, unless another is named."""

    def __init__(self, session: str = "q1") -> None:
        self.session = session
        self.lines: list[dict[str, Any]] = []
        self._tail: str | None = None

    def put(self, kind: str, *parts: dict[str, Any], **extra: Any) -> str:
        number = len(self.lines)
        line = {
            "uuid": f"{self.session}-{number}",
            "parentUuid": self._tail,
            "sessionId": self.session,
            "timestamp": format_time(number),
            "type": kind,
            "cwd": "/work/shop",
            "version": "0.21.13",
            "gitBranch": "main",
            "message": {"role": kind, "parts": list(parts)},
            **extra,
        }
        self.lines.append(line)
        self._tail = str(line["uuid"])
        return self._tail

    def write(self, home: Path) -> Path:
        folder = home / ".qwen" / "projects" / "-work-shop" / "chats"
        return write_lines(folder / f"{self.session}.jsonl", self.lines)


def make_rich_session() -> Qwen:
    """Return a session with every kind of line and every trap."""
    one = Qwen()
    hook = "<qwen:user-prompt-submit-context>milk</qwen:user-prompt-submit-context>"
    one.put("user", {"text": "Read it."}, {"text": hook})
    call = {"id": "t1", "name": "read_file", "args": {"path": "cart.py"}}
    answer = one.put("assistant", {"text": "Look first.", "thought": True}, model="coder")
    one.put("assistant", {"functionCall": call}, uuid=answer, parentUuid="q1-0", model="coder")
    response = {"id": "t1", "name": "read_file", "response": {"output": "x = 1"}}
    one.put("tool_result", {"functionResponse": response}, toolCallResult={"status": "success"})
    one.put("user", {"text": "A job is done."}, subtype="notification")
    last = one.put("assistant", {"text": "It says x = 1."}, model="coder")
    one.put("system", subtype="chat_compression", systemPayload={"info": "A recap."})
    one.put("user", {"text": "Why?"}, systemPayload={"displayText": "Why?"})
    one.put("assistant", {"text": "Because."})
    one.put("system", subtype="rewind", systemPayload={"targetUuid": last})
    one.put("user", {"text": "How?"}, subtype="mid_turn_user_message")
    one.put("system", subtype="custom_title", systemPayload={"customTitle": "The cart"})
    return one
