"""Hook calls: what an agent says when it runs `ragforge hook`, and how it wants its answer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

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


MAX_FILES = 10
MAX_PATH = 4_096
# Tools of all agents that open or change files, in small letters and without signs between words.
_FILE_TOOLS = frozenset(
    (
        *("read", "readfile", "edit", "multiedit", "write", "writefile", "replace"),
        *("notebookread", "notebookedit", "editfile", "applypatch"),
    )
)
# The first argument that is there names the file.
_PATHS = ("file_path", "notebook_path", "absolute_path", "path", "filePath", "absolutePath")
_HEADS = ("*** Update File: ", "*** Delete File: ", "*** Add File: ")


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


def list_files(tool: object, given: object, folder: str) -> tuple[str, ...]:
    """Return the normalised paths of files that a call reads or changes; none for other tools."""
    given = {"patch": given} if isinstance(given, str) else given  # a tool without a schema
    if not isinstance(tool, str) or not isinstance(given, dict):
        return ()
    name = "".join(sign for sign in tool[:100].casefold() if sign.isalnum())
    if name not in _FILE_TOOLS:
        return ()
    found = _read_patch(given) if name == "applypatch" else _read_path(given)
    paths = (os.path.normpath(os.path.join(folder, path)) for path in found)
    return tuple(dict.fromkeys(paths))[:MAX_FILES]


def _read_path(given: dict[str, Any]) -> Iterator[str]:
    values = (given.get(name) for name in _PATHS)
    path = next((value for value in values if isinstance(value, str) and value), "")
    if 0 < len(path) <= MAX_PATH:
        yield path


def _read_patch(given: dict[str, Any]) -> Iterator[str]:
    for patch in given.values():
        for line in patch.splitlines() if isinstance(patch, str) else ():
            for head in _HEADS:
                if line.startswith(head) and len(path := line[len(head) :].strip()) <= MAX_PATH:
                    yield path
