"""Hook calls: what an agent says when it runs `ragforge hook`, and how it wants its answer."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

from ragforge.records import dataclass

Kind: TypeAlias = Literal["start", "prompt", "ring", "none"]

KINDS: dict[str, Kind] = {
    "sessionstart": "start",
    "userpromptsubmit": "prompt",
    "beforeagent": "prompt",
    "stop": "ring",
    "subagentstop": "ring",
    "afteragent": "ring",
    "precompact": "ring",
    "precompress": "ring",
    "sessionend": "ring",
}
"""What agents call their events, in small letters."""


@dataclass(frozen=True, slots=True)
class HookCall:
    """One call of the hook."""

    agent: str
    event: str  # as the agent calls it
    session: str = ""
    transcript: str = ""
    cwd: str = ""
    prompt: str = ""

    @property
    def kind(self) -> Kind:
        """What is wanted: context for a session or a prompt, or that we look at its transcript."""
        return KINDS.get(self.event.lower(), "none")


def read_call(data: bytes, agent: str, event: str = "") -> HookCall:
    """Return the call that an agent describes. What is missing or odd is empty."""
    try:
        given = json.loads(data.decode(errors="replace"))
    except ValueError:
        given = {}
    given = given if isinstance(given, dict) else {}

    def get(*names: str) -> str:
        found = (given.get(name) for name in names)
        return next((text for text in found if isinstance(text, str) and text), "")

    roots = given.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    return HookCall(
        agent,
        event or get("hook_event_name", "event"),
        get("session_id", "sessionId", "conversation_id"),
        get("transcript_path", "agent_transcript_path"),
        get("cwd") or root,
        get("prompt", "initialPrompt"),
    )


def format_answer(call: HookCall, text: str) -> str:
    """Return context in the form that an agent reads from standard output."""
    if call.agent == "kimi":
        return text + "\n"
    answer: dict[str, Any]
    if call.agent == "cursor":
        answer = {"additional_context": text}
    else:
        answer = {"hookSpecificOutput": {"hookEventName": call.event, "additionalContext": text}}
    return json.dumps(answer) + "\n"
