"""Gemini CLI's transcripts: lines and whole files, about an invented shop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fakes.transcripts.files import format_time, write_json, write_lines


class Gemini:
    """Writes the lines of a session."""

    def __init__(self, session: str = "g1", **head: Any) -> None:
        self.session = session
        self.head = {
            "sessionId": session,
            "projectHash": "f00",
            "startTime": format_time(0),
            "lastUpdated": format_time(0),
            "kind": "main",
            **head,
        }
        self.lines: list[dict[str, Any]] = [self.head]

    def say(self, content: Any, name: str = "", **extra: Any) -> dict[str, Any]:
        return self._add("user", name, content=content, **extra)

    def answer(self, text: str, *calls: Any, name: str = "", **extra: Any) -> dict[str, Any]:
        given = {"toolCalls": list(calls)} if calls else {}
        tokens = {"input": 9, "output": 4, "total": 13}
        return self._add("gemini", name, content=text, model="pro", tokens=tokens, **given, **extra)

    def note(self, kind: str, text: str) -> None:
        self._add(kind, "", content=text)

    def put(self, **line: Any) -> None:
        self.lines.append(line)

    def write(self, home: Path, project: str = "shop") -> Path:
        folder = home / ".gemini" / "tmp" / project / "chats"
        return write_lines(folder / f"session-{self.session}.jsonl", self.lines)

    def write_whole(self, home: Path, project: str = "shop") -> Path:
        """Write it as versions before 0.40 did."""
        folder = home / ".gemini" / "tmp" / project / "chats"
        whole = {**self.head, "messages": self.lines[1:]}
        return write_json(folder / f"session-{self.session}.json", whole)

    def _add(self, kind: str, name: str, **fields: Any) -> dict[str, Any]:
        number = len(self.lines)
        line = {
            "id": name or f"{self.session}-{number}",
            "timestamp": format_time(number),
            "type": kind,
            **fields,
        }
        self.lines.append(line)
        return line


def call(call_id: str, name: str, output: str | None = None, **arguments: Any) -> dict[str, Any]:
    """A call, which has ended if it has an output."""
    made = {"id": call_id, "name": name, "args": arguments, "status": "executing"}
    if output is None:
        return made
    response = {"id": call_id, "name": name, "response": {"output": output}}
    return {**made, "status": "success", "result": [{"functionResponse": response}]}


def make_rich_session() -> Gemini:
    """Return a session with every kind of line and every trap."""
    one = Gemini(directories=["/work/shop"])
    one.note("info", "Logged in.")
    files = "\n--- Content from referenced files ---\nx = 1\n--- End of content ---"
    one.say([{"text": "Why is @cart.py wrong?"}, {"text": files}])
    one.put(**{"$set": {"lastUpdated": format_time(3)}})
    thoughts = [{"subject": "Sum", "description": "Look at it first."}]
    one.answer("I look.", name="a1", thoughts=thoughts)
    one.answer("I look.", call("t1", "read_file"), name="a1", thoughts=thoughts)
    one.answer("I look.", call("t1", "read_file", "x = 1"), name="a1", thoughts=thoughts)
    one.answer("", {**call("t2", "replace", "no", file_path="cart.py"), "status": "error"})
    one.answer("", call("t3", "write_file", "done", file_path="cart.py", content="x = 2\n"))
    one.answer("Fixd.", name="a2")
    one.answer("Fixed.", name="a2")
    one.put(**{"$set": {"messages": [one.lines[2], one.lines[4]], "summary": "The cart"}})
    explain = one.say("Now explain it.")
    one.answer("It skipped the first item.")
    one.put(**{"$rewindTo": explain["id"]})
    one.say("Explain it for a child.")
    one.answer("We counted from two.")
    return one
