"""Cursor's transcripts: lines, and the database of its command line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

Message = dict[str, Any]


def say(role: str, *blocks: Any) -> Message:
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    return {"role": role, "message": {"content": content}}


def make_rich_session() -> list[Message]:
    """Return a session with every kind of line and every trap."""
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": "a"}],
    }
    return [
        say("user", "<user_info>macOS</user_info><user_query>List the files.</user_query>"),
        say(
            "assistant",
            {"type": "thinking", "thinking": "Look first."},
            "I look.",
            {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}},
        ),
        say("user", result),
        say("assistant", "There is a."),
        {"type": "turn_ended", "status": "success"},
        say("user", "Thanks."),
    ]


def write_store(path: Path, messages: list[Message]) -> Path:
    """Write the database of a chat, with blobs that are not messages among the others."""
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
    connection.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
    head = json.dumps({"agentId": "c1", "name": "The cart"}).encode().hex()
    connection.execute("INSERT INTO meta VALUES ('0', ?)", [head])
    connection.execute("INSERT INTO blobs VALUES ('tree', ?)", [b"\n\x20\x01\x02"])
    for number, message in enumerate(messages):
        data = json.dumps(message).encode()
        connection.execute("INSERT INTO blobs VALUES (?, ?)", [f"b{9 - number}", data])
    connection.commit()
    connection.close()
    return path
