"""Claude Code's transcripts: lines as it writes them, about an invented shop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fakes.transcripts.files import Line, format_time, write_lines

CWD = "/work/shop"


class Claude:
    """Writes the lines of a session; each follows the one before, unless another is named."""

    def __init__(self, session: str = "s1", **envelope: Any) -> None:
        self.session = session
        self.lines: list[dict[str, Any]] = []
        self._tail: str | None = None
        self._envelope = envelope

    def say(self, text: Any, *, after: str | None = "", **extra: Any) -> str:
        """A user's line, or one that takes the place of a user's."""
        return self._add("user", {"role": "user", "content": text}, after, extra)

    def answer(self, *blocks: Any, message: str = "", after: str | None = "", **extra: Any) -> str:
        """A line of an answer; lines with the same `message` are one answer."""
        content = [block if isinstance(block, dict) else text(block) for block in blocks]
        body = {
            "id": message or f"msg-{len(self.lines)}",
            "role": "assistant",
            "model": "opus",
            "content": content,
            "usage": {"input_tokens": 3, "output_tokens": extra.pop("tokens", 5)},
        }
        return self._add("assistant", body, after, extra)

    def give_result(
        self,
        call_id: str,
        output: Any,
        *,
        is_error: bool = False,
        after: str | None = "",
        **extra: Any,
    ) -> str:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": output}
        block |= {"is_error": True} if is_error else {}
        return self._add("user", {"role": "user", "content": [block]}, after, extra)

    def note(self, kind: str, *, after: str | None = "", **extra: Any) -> str:
        """Another line of the chain."""
        return self._add(kind, None, after, extra)

    def put(self, **line: Any) -> None:
        """A line that is not in the chain."""
        self.lines.append(line)

    def fork(self, session: str) -> Claude:
        """Return a session that replays this one under its own id."""
        other = Claude(session, **self._envelope)
        other.lines = [{**line, "sessionId": session} for line in self.lines if line.get("uuid")]
        other._tail = self._tail
        return other

    def write(self, home: Path, name: str = "") -> Path:
        return write_lines(find_folder(home) / f"{name or self.session}.jsonl", self.lines)

    def _add(self, kind: str, message: Any, after: str | None, extra: dict[str, Any]) -> str:
        number = len(self.lines)
        line = {
            "parentUuid": self._tail if after == "" else after,
            "isSidechain": False,
            "userType": "external",
            "cwd": CWD,
            "sessionId": self.session,
            "version": "2.1.239",
            "gitBranch": "main",
            "type": kind,
            "uuid": f"{self.session}-{number}",
            "timestamp": format_time(number),
            **({"message": message} if message is not None else {}),
            **self._envelope,
            **extra,
        }
        self.lines.append(line)
        self._tail = line["uuid"]
        return str(line["uuid"])


def find_folder(home: Path) -> Path:
    return home / ".claude" / "projects" / "-work-shop"


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def think(words: str) -> Line:
    return {"type": "thinking", "thinking": words, "signature": "sig"}


def call(call_id: str, name: str, **arguments: Any) -> Line:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def edit_result(path: str, before: str, old: str, new: str) -> dict[str, Any]:
    """What is stored next to the result of an edit."""
    return {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "replaceAll": False,
        "structuredPatch": [
            {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}
        ],
        "userModified": False,
    }


def make_rich_session() -> Claude:
    """Return a session with every kind of line and every trap."""
    one = Claude()
    one.put(type="summary", summary="An older talk", leafUuid="elsewhere")
    one.put(type="file-history-snapshot", messageId="m", snapshot={}, isSnapshotUpdate=False)
    one.say("<local-command-caveat>Caveat: ran on its own.</local-command-caveat>", isMeta=True)
    first = one.say(
        [
            text("<ide_opened_file>The user opened /work/shop/cart.py</ide_opened_file>"),
            text("Why is the cart total wrong?<system-reminder>Be nice.</system-reminder>"),
        ]
    )
    one.answer(think("Look at the sum first."), message="m1", requestId="r1")
    one.answer(text("I read the cart."), message="m1", requestId="r1", tokens=9)
    one.answer(call("t1", "Read", file_path="/work/shop/cart.py"), message="m1", requestId="r1")
    one.note("progress", data={"type": "hook_progress"})
    one.give_result("t1", [text("def total(): ...")], toolUseResult={"type": "text", "file": {}})
    one.answer(call("t2", "Bash", command="pytest"), call("t3", "Edit", file_path="cart.py"))
    one.give_result("t2", "1 failed", is_error=True)
    change = edit_result("/work/shop/cart.py", "a\n", "a", "b")
    one.give_result("t3", "The file was updated.", toolUseResult=change)
    one.put(
        type="attachment",
        sessionId="s1",
        timestamp=format_time(11.5),
        attachment={"type": "queued_command", "prompt": "And add a test."},
    )
    one.answer("Fixed, with a test.")
    one.note("system", subtype="turn_duration", durationMs=4)
    one.say("Now explain it.")
    one.answer("The sum skipped the first item.")
    one.say("Explain it for a child.", after=f"s1-{len(one.lines) - 3}")
    one.answer("We counted from two.")
    boundary = one.note(
        "system", subtype="compact_boundary", after=None, logicalParentUuid=one.lines[-1]["uuid"]
    )
    one.say("This is a recap.", after=boundary, isCompactSummary=True)
    one.say("<ragforge-memory>Recalled: buy milk.</ragforge-memory>")
    one.say("Thanks. Ship it.")
    one.answer("Partly ans", isAbortedMidStream=True)
    one.answer("Partly answered.", supersedesUuids=[one.lines[-1]["uuid"]])
    one.put(type="custom-title", customTitle="The cart", sessionId="s1")
    assert first
    return one
