"""goose's database, about an invented shop."""

from __future__ import annotations

import json
import sqlite3
import weakref
from pathlib import Path
from typing import Any

from tests.fakes.transcripts.files import format_milliseconds

_SCHEMA = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, session_type TEXT, working_dir TEXT,
  model_config_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT,
  role TEXT, content_json TEXT, created_timestamp INTEGER, tokens INTEGER, metadata_json TEXT);
"""


class Goose:
    """Writes sessions into a database, as a running program does."""

    def __init__(self, home: Path) -> None:
        self.path = home / ".local" / "share" / "goose" / "sessions" / "sessions.db"
        self.path.parent.mkdir(parents=True)
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        self.connection.execute("PRAGMA synchronous = OFF")
        weakref.finalize(self, self.connection.close)  # where a test leaves it open
        self.connection.executescript(_SCHEMA)
        self._number = 0

    def begin(self, session: str, **row: Any) -> None:
        given = {"id": session, "name": "The cart", "working_dir": "/work/shop", **row}
        given["model_config_json"] = json.dumps({"model_name": "sonnet"})
        marks = ", ".join("?" * len(given))
        self.connection.execute(
            f"INSERT INTO sessions ({', '.join(given)}) VALUES ({marks})", list(given.values())
        )

    def put(self, session: str, role: str, *blocks: Any, visible: bool = True) -> None:
        self._number += 1
        content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
        at = format_milliseconds(self._number) // 1000
        self.connection.execute(
            "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp,"
            " tokens, metadata_json) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                *(f"m{self._number}", session, role, json.dumps(content), at, 5),
                json.dumps({"userVisible": visible, "agentVisible": True}),
            ],
        )


def fill_rich_session(one: Goose) -> None:
    """Write a session with every kind of block and every trap."""
    one.begin("s1")
    call = {"status": "success", "value": {"name": "developer__shell", "arguments": {"c": "ls"}}}
    done = {"status": "success", "value": {"content": [{"type": "text", "text": "cart.py"}]}}
    one.put("s1", "user", "Read it.")
    one.put(
        "s1",
        "assistant",
        {"type": "thinking", "thinking": "Look first."},
        "I look.",
        {"type": "toolRequest", "id": "t1", "toolCall": call},
        {"type": "toolRequest", "id": "t2", "toolCall": call},
    )
    one.put("s1", "user", {"type": "toolResponse", "id": "t1", "toolResult": done})
    failed = {"status": "error", "error": "no"}
    one.put("s1", "user", {"type": "toolResponse", "id": "t2", "toolResult": failed})
    one.put("s1", "user", "A recap of it all.", visible=False)
    one.put("s1", "assistant", "Done.", {"type": "image"})
