"""Codex's results: outputs of calls, how commands ended, and which files a patch changed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ragforge.transcripts.fields import get_mapping, get_number, get_text, join_texts
from ragforge.transcripts.record import FileChange, Result

_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
_HEAD = 2_000  # the exit code stands in the first lines


def read_output(item: Mapping[str, Any]) -> Result:
    """Return the result that an item of the conversation holds."""
    call_id = get_text(item, "call_id") or ""
    output = item.get("output", item.get("result", item.get("tools")))
    code: int | None = None
    if isinstance(output, str):
        text, code = _read_text(output)
    elif isinstance(output, dict) and "content" in output:
        text = str(output["content"])
        if output.get("success") is False:
            code = 1
    elif isinstance(output, dict) and ("stdout" in output or "exitCode" in output):
        text = f"{output.get('stdout', '')}{output.get('stderr', '')}"
        code = get_number(output, "exitCode")
    else:
        text = join_texts(output)
        code = _find_code(text)
    failed = code not in (None, 0)
    return Result(call_id, not failed, text, error=f"exit code {code}" if failed else None)


def read_ended_command(event: Mapping[str, Any]) -> Result | None:
    """Return how a command or a call to a server ended, as the program noted it."""
    call_id = get_text(event, "call_id")
    if call_id is None:
        return None
    if event.get("type") == "exec_command_end":
        code = get_number(event, "exit_code") or 0
        error = f"exit code {code}" if code else None
        return Result(call_id, code == 0, None, error, _read_duration(event))
    if event.get("type") == "mcp_tool_call_end":
        failure = get_mapping(event, "result").get("Err")
        error = None if failure is None else str(failure)
        return Result(call_id, failure is None, None, error, _read_duration(event))
    return None


def read_patch(event: Mapping[str, Any]) -> Result | None:
    """Return the files that a patch changed."""
    call_id = get_text(event, "call_id")
    if event.get("type") != "patch_apply_end" or call_id is None:
        return None
    changes: list[FileChange] = []
    for path, change in get_mapping(event, "changes").items():
        changes.append(FileChange(path))
        if isinstance(change, dict) and (moved := get_text(change, "move_path")):
            changes.append(FileChange(moved))
    error = None if event.get("success", True) else get_text(event, "stderr") or "it failed"
    return Result(call_id, error is None, None, error, changes=tuple(changes))


def _read_text(output: str) -> tuple[str, int | None]:
    """Return the text and the exit code; older versions wrap both in JSON."""
    if output.startswith("{"):
        try:
            wrapped = json.loads(output)
        except ValueError:
            wrapped = None
        if isinstance(wrapped, dict) and isinstance(wrapped.get("output"), str):
            code = get_number(get_mapping(wrapped, "metadata"), "exit_code")
            return wrapped["output"], code
    return output, _find_code(output)


def _find_code(text: str) -> int | None:
    found = _EXIT.search(text[:_HEAD])
    return None if found is None else int(found.group(1))


def _read_duration(event: Mapping[str, Any]) -> int:
    taken = get_mapping(event, "duration")
    return (get_number(taken, "secs") or 0) * 1000 + (get_number(taken, "nanos") or 0) // 1_000_000
