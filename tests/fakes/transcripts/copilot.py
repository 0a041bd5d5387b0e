"""Copilot CLI's events, about an invented shop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fakes.transcripts.files import format_time, write_lines


class Copilot:
    """Writes the events of a session; each follows the one before."""

    def __init__(self, session: str = "p1") -> None:
        self.session = session
        self.lines: list[dict[str, Any]] = []
        context = {"cwd": "/work/shop", "gitRoot": "/work/shop", "branch": "main"}
        context |= {"repository": "ann/shop", "repositoryHost": "example.org"}
        self.put("session.start", sessionId=session, copilotVersion="1.0.77", context=context)

    def put(self, kind: str, **data: Any) -> None:
        number = len(self.lines)
        self.lines.append(
            {
                "type": kind,
                "data": data,
                "id": f"{self.session}-{number}",
                "timestamp": format_time(number),
                "parentId": f"{self.session}-{number - 1}" if number else None,
            }
        )

    def write(self, home: Path, *, flat: bool = False) -> Path:
        folder = home / ".copilot" / "session-state"
        name = f"{self.session}.jsonl" if flat else f"{self.session}/events.jsonl"
        return write_lines(folder / name, self.lines)


def make_rich_session() -> Copilot:
    """Return a session with every kind of event and every trap."""
    one = Copilot()
    one.put("session.model_change", newModel="gpt-x")
    one.put("system.message", content="You are an agent.")
    one.put("user.message", content="List the files.", transformedContent="<x>List the files.")
    one.put("user.message", content="Use this skill.", source="skill-shop")
    one.put("assistant.turn_start", turnId="0")
    request = {"toolCallId": "t1", "name": "bash", "arguments": '{"command": "ls"}'}
    one.put(
        "assistant.message",
        content="I look.",
        reasoningText="Look first.",
        toolRequests=[request],
        outputTokens=7,
    )
    one.put("hook.start", hookType="preToolUse", input={"toolName": "bash"})
    one.put("tool.execution_start", toolCallId="t1", toolName="bash", arguments={"command": "ls"})
    metrics = {"metrics": {"durationMs": 4}}
    result = {"content": "cart.py"}
    one.put(
        "tool.execution_complete",
        toolCallId="t1",
        success=True,
        result=result,
        toolTelemetry=metrics,
    )
    one.put("tool.execution_start", toolCallId="t2", toolName="create", arguments={"path": "a.py"})
    one.put("tool.execution_complete", toolCallId="t2", success=False, error={"message": "no"})
    one.put("subagent.started", toolCallId="t3", agentName="explore")
    one.put("assistant.message", content="Inside.", parentToolCallId="t3")
    one.put("session.truncation", reason="context_limit")
    one.put("abort", reason="user")
    one.put("user.message", content="Thanks.")
    return one
