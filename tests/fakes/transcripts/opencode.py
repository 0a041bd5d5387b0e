"""opencode's database and its older tree of files, about an invented shop."""

from __future__ import annotations

import json
import sqlite3
import weakref
from pathlib import Path
from typing import Any

from tests.fakes.transcripts.files import format_milliseconds, write_json

_SCHEMA = """
CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT NOT NULL);
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, title TEXT,
  directory TEXT, version TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER,
  time_updated INTEGER, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
  time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL,
  seq INTEGER NOT NULL, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
"""


class OpenCode:
    """Writes sessions into a database, as a running program does."""

    def __init__(self, home: Path, *, wal: bool = False) -> None:
        self.path = home / ".local" / "share" / "opencode" / "opencode.db"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        self.connection.execute("PRAGMA synchronous = OFF")
        weakref.finalize(self, self.connection.close)  # where a test leaves it open
        if wal:
            self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.executescript(_SCHEMA)
        self.insert("project", id="p1", worktree="/work/shop")
        self.insert("project", id="global", worktree="/")
        self._number = 0

    def insert(self, table: str, **row: Any) -> None:
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        values = [json.dumps(v) if isinstance(v, dict) else v for v in row.values()]
        self.connection.execute(
            f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", values
        )

    def begin(self, session: str = "ses_1", **row: Any) -> None:
        given = {"project_id": "p1", "directory": "/work/shop", "title": "The cart", **row}
        at = format_milliseconds(self._number)
        self.insert(
            "session", id=session, version="1.3.17", time_created=at, time_updated=at, **given
        )

    def put(
        self, role: str, *parts: dict[str, Any], session: str = "ses_1", name: str = "", **data: Any
    ) -> str:
        """A message with its parts; an answer is complete unless `completed` is False."""
        self._number += 1
        name = name or f"msg_{self._number:03}"
        at = data.pop("at", format_milliseconds(self._number))
        ended = {"completed": at} if data.pop("completed", True) else {}
        info = {"role": role, "time": {"created": at, **ended}, **data}
        self.insert(
            "message", id=name, session_id=session, time_created=at, time_updated=at, data=info
        )
        for number, part in enumerate(parts):
            row = {"id": f"prt_{name}_{number}", "message_id": name, "session_id": session}
            self.insert("part", **row, time_created=at, time_updated=at, data=part)
        return name

    def put_entry(self, kind: str, session: str = "ses_1", **data: Any) -> None:
        """A message of the newer form."""
        self._number += 1
        at = format_milliseconds(self._number)
        row = {"id": f"evt_{self._number:03}", "session_id": session, "type": kind}
        row |= {"seq": self._number, "time_created": at, "time_updated": at}
        self.insert(
            "session_message", **row, data={"time": {"created": at, "completed": at}, **data}
        )

    def close(self) -> Path:
        self.connection.close()
        return self.path


def text(words: str, **extra: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **extra}


def think(words: str) -> dict[str, Any]:
    return {"type": "reasoning", "text": words}


def tool(call_id: str, name: str, output: str, **state: Any) -> dict[str, Any]:
    given = {"status": "completed", "input": {}, "output": output, **state}
    return {"type": "tool", "callID": call_id, "tool": name, "state": given}


def fill_rich_session(one: OpenCode) -> None:
    """Write a session with every kind of part and every trap."""
    one.begin()
    one.put(
        "user",
        text("Why is the cart wrong?"),
        text("Called the Read tool with cart.py", synthetic=True),
        {"type": "file", "filename": "cart.py"},
    )
    one.put(
        "assistant",
        {"type": "step-start"},
        think("Look first."),
        text("I look."),
        tool("t1", "read", "a", input={"filePath": "cart.py"}),
        tool("t2", "bash", "1 failed", metadata={"exit": 1}, time={"start": 5, "end": 9}),
        tool("t3", "invalid", "no such tool"),
        tool("t4", "edit", "done", input={"filePath": "/work/shop/cart.py"}),
        {
            "type": "tool",
            "callID": "t5",
            "tool": "write",
            "state": {"status": "error", "error": "no"},
        },
        {"type": "patch", "files": ["cart.py"]},
        {"type": "step-finish"},
        modelID="sonnet",
        tokens={"output": 7},
    )
    one.put("assistant", text("A recap of it all."), summary=True)
    one.put("user", text("Thanks."))
    one.put("assistant", text("Any time."), modelID="sonnet")


def write_tree(home: Path, *, together: bool = False) -> Path:
    """Write a session as versions before the database did."""
    storage = home / ".local" / "share" / "opencode" / "storage"
    at = format_milliseconds(0)
    head = {"id": "ses_1", "directory": "/work/shop", "title": "The cart", "version": "0.9"}
    for name, role, words in (("msg_001", "user", "Hi."), ("msg_002", "assistant", "Hello.")):
        info = {"id": name, "sessionID": "ses_1", "role": role, "time": {"created": at}}
        write_json(storage / "message" / "ses_1" / f"{name}.json", info)
        part = {"id": f"prt_{name}", "messageID": name, **text(words)}
        folder = storage / "part" if together else storage / "part" / name
        write_json(folder / f"prt_{name}.json", part)
    return write_json(storage / "session" / "p1" / "ses_1.json", head)
