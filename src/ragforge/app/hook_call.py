"""Hook calls: what an agent says when it runs `ragforge hook`, and how it wants its answer."""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple, TypeAlias

from ragforge.app.file_call import list_files

Kind: TypeAlias = Literal["start", "prompt", "file", "ring", "none"]

KINDS: dict[str, Kind] = {
    "sessionstart": "start",
    "userpromptsubmit": "prompt",
    "beforeagent": "prompt",
    "pretooluse": "file",
    "posttooluse": "file",
    "aftertool": "file",
    "stop": "ring",
    "subagentstop": "ring",
    "afteragent": "ring",
    "precompact": "ring",
    "precompress": "ring",
    "sessionend": "ring",
}
"""What agents call their events, in small letters."""
LOSING_EVENTS = frozenset(("precompact", "precompress"))
LOSING_SOURCES = frozenset(("compact", "clear"))


class HookCall(NamedTuple):
    """One call of the hook. A tuple: it is made before anything heavier is imported."""

    agent: str
    event: str  # as the agent calls it
    session: str = ""
    transcript: str = ""
    cwd: str = ""
    prompt: str = ""
    source: str = ""  # why a session starts: it is new, resumed, compacted or cleared
    files: tuple[str, ...] = ()  # their full paths, that a tool has read or changed

    @property
    def kind(self) -> Kind:
        """What is wanted: context for a session, a prompt or a file, or that we look at its
        transcript.
        """
        return KINDS.get(self.event.lower(), "none")

    @property
    def loses_context(self) -> bool:
        """Whether the agent forgets what its session has received."""
        return self.event.lower() in LOSING_EVENTS or self.source in LOSING_SOURCES


def name_file_id(path: str) -> str:
    """Return the id under which a session has received what is known of a file."""
    return f"file:{path}"


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
    cwd = get("cwd") or root
    return HookCall(
        agent,
        event or get("hook_event_name", "event"),
        get("session_id", "sessionId", "conversation_id"),
        get("transcript_path", "agent_transcript_path"),
        cwd,
        get("prompt", "initialPrompt"),
        get("source", "trigger"),
        list_files(given.get("tool_name"), given.get("tool_input"), cwd),
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
