"""Kimi CLI's transcripts in both forms, about an invented shop."""

from __future__ import annotations

from typing import Any

from tests.fakes.transcripts.files import format_milliseconds


class Kimi:
    """Writes the lines of an agent."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.put("metadata", protocol_version="1.4")
        self.put("config.update", cwd="/work/shop", modelAlias="kimi-k2")

    def put(self, kind: str, **fields: Any) -> None:
        self.lines.append({"type": kind, **fields, "time": format_milliseconds(len(self.lines))})

    def say(self, words: str, origin: str = "user", kind: str = "turn.prompt") -> None:
        content = [{"type": "text", "text": words}]
        self.put(kind, input=content, origin={"kind": origin})
        message = {"role": "user", "content": content, "origin": {"kind": origin}}
        self.put("context.append_message", message=message)

    def happen(self, kind: str, **event: Any) -> None:
        self.put("context.append_loop_event", event={"type": kind, **event})


def make_rich_session() -> Kimi:
    """Return a session with every kind of line and every trap."""
    one = Kimi()
    one.say("Read it.")
    one.happen("step.begin", step=1)
    one.happen("content.part", part={"type": "think", "think": "Look first."})
    one.happen("tool.call", toolCallId="Bash_0", name="Bash", args={"command": "ls"})
    one.happen("tool.result", toolCallId="Bash_0", result={"output": "cart.py"})
    one.happen("tool.call", toolCallId="Edit_1", name="Edit", args={"path": "cart.py"})
    one.happen("tool.result", toolCallId="Edit_1", result={"output": "no", "isError": True})
    one.happen("content.part", part={"type": "text", "text": "Done."})
    one.happen("step.end", usage={"output": 3})
    one.put("context.apply_compaction", summary="A recap.", compactedCount=4)
    one.say("A job is done.", origin="background_task")
    one.say("Thanks.", kind="turn.steer")
    return one


def make_older_session() -> list[dict[str, Any]]:
    """Return a session as the first versions wrote them."""
    events: list[tuple[str, dict[str, Any]]] = [
        ("TurnBegin", {"user_input": [{"type": "text", "text": "Read it."}]}),
        ("StepBegin", {"n": 1}),
        ("ContentPart", {"type": "think", "think": "Look first."}),
        ("ToolCall", {"id": "t1", "function": {"name": "Read", "arguments": '{"path": "a"}'}}),
        ("ToolResult", {"tool_call_id": "t1", "return_value": {"output": "x"}}),
        ("ContentPart", {"type": "text", "text": "Done."}),
        ("TurnEnd", {}),
    ]
    return [
        {"timestamp": format_milliseconds(n) / 1000, "message": {"type": kind, "payload": body}}
        for n, (kind, body) in enumerate(events)
    ]
