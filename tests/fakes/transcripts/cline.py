"""Cline's and Roo's tasks, about an invented shop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes.transcripts.files import format_milliseconds, write_json


def show(kind: str, text: str, number: int, **extra: Any) -> dict[str, Any]:
    """A message as a task shows it."""
    return {"ts": format_milliseconds(number), "type": "say", "say": kind, "text": text, **extra}


def ask(kind: str, text: str, number: int) -> dict[str, Any]:
    return {"ts": format_milliseconds(number), "type": "ask", "ask": kind, "text": text}


def make_rich_task() -> list[dict[str, Any]]:
    """Return a task with every kind of message and every trap."""
    edit = {"tool": "editedExistingFile", "path": "cart.py", "diff": "-a\n+b"}
    return [
        show("text", "Fix the cart.", 0),
        show("api_req_started", '{"tokensIn": 3}', 1),
        show("reasoning", "Look first.", 2),
        show("text", "I look.", 3),
        ask("command", "pytest", 4),
        show("command_output", "1 failed", 5),
        show("tool", json.dumps(edit), 6),
        show("text", "Fix", 7, partial=True),
        ask("followup", json.dumps({"question": "Shall I go on?", "options": ["Yes"]}), 8),
        show("user_feedback", "<feedback>Yes.</feedback>", 9),
        show("completion_result", "Fixed.", 10),
    ]


def write_task(home: Path, extension: str, messages: list[dict[str, Any]]) -> Path:
    folder = home / ".config" / "Code" / "User" / "globalStorage" / extension / "tasks" / "k1"
    write_json(folder / "history_item.json", {"id": "k1", "workspace": "/work/shop"})
    return write_json(folder / "ui_messages.json", messages)
