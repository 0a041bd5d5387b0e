"""Codex's calls and results: outputs, how commands ended, and which files a patch changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from ragforge.domain.text import Json
from ragforge.transcripts.fields import (
    get_mapping,
    get_number,
    get_text,
    hash_texts,
    join_texts,
    load_arguments,
    parse_text,
)
from ragforge.transcripts.recent import Recent
from ragforge.transcripts.record import Call, FileChange, Result

_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,9})", re.MULTILINE)
_HEAD = 2_000  # the exit code stands in the first lines
MOST_ENDS = 32


class Ends:
    """How calls ended, as the program noted it before their output."""

    def __init__(self) -> None:
        self._ends: Recent[Result] = Recent(MOST_ENDS)

    def note(self, event: Mapping[str, Any]) -> None:
        end = _read_ended_command(event) or _read_patch(event)
        if end is not None:
            self._ends.put(end.call_id, end)

    def add_to(self, result: Result) -> Result:
        """Return a result with what is known about the end of its call."""
        if (end := self._ends.pop(result.call_id)) is None:
            return result
        return replace(
            result,
            success=end.success,
            error=None if end.success else end.error or result.error,
            duration_ms=end.duration_ms,
            changes=end.changes,
        )

    def save(self) -> Json:
        return [asdict(end) for _, end in self._ends.items()]

    def load(self, state: Json) -> None:
        for fields in state:
            changes = tuple(FileChange(**change) for change in fields["changes"])
            self._ends.put(fields["call_id"], Result(**{**fields, "changes": changes}))


def read_call(kind: str, item: Mapping[str, Any]) -> Call:
    """Return a call, whose arguments may be a text of JSON, or the words of a patch."""
    name = get_text(item, "name") or get_text(get_mapping(item, "function"), "name")
    name = name or kind.removesuffix("_call")
    given = load_arguments(item.get("arguments", item.get("input", item.get("action"))))
    call_id = get_text(item, "call_id") or get_text(item, "id") or hash_texts((name, str(given)))
    return Call(call_id, name, given)


def read_output(item: Mapping[str, Any]) -> Result:
    """Return the result that an item of the conversation holds."""
    call_id = get_text(item, "call_id") or ""
    output = item.get("output", item.get("result", item.get("tools")))
    code: int | None = None
    if isinstance(output, str):
        text, code = _read_text(output)
    elif isinstance(output, dict) and "content" in output:
        content = output["content"]
        text = content if isinstance(content, str) else join_texts(content)
        if output.get("success") is False:
            code = 1
    elif isinstance(output, dict) and ("stdout" in output or "exitCode" in output):
        text = f"{get_text(output, 'stdout') or ''}{get_text(output, 'stderr') or ''}"
        code = get_number(output, "exitCode")
    else:
        text = join_texts(output)
        code = _find_code(text)
    failed = code not in (None, 0)
    return Result(call_id, not failed, text, error=f"exit code {code}" if failed else None)


def _read_ended_command(event: Mapping[str, Any]) -> Result | None:
    """Return how a command or a call to a server ended."""
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


def _read_patch(event: Mapping[str, Any]) -> Result | None:
    """Return the files that a patch changed."""
    call_id = get_text(event, "call_id")
    if event.get("type") != "patch_apply_end" or call_id is None:
        return None
    changes: list[FileChange] = []
    for path, change in get_mapping(event, "changes").items():
        changes.append(FileChange(path, diff=_get_diff(change)))
        if isinstance(change, dict) and (moved := get_text(change, "move_path")):
            changes.append(FileChange(moved))
    error = None if event.get("success", True) else get_text(event, "stderr") or "it failed"
    done = () if error else tuple(changes)
    return Result(call_id, error is None, None, error, changes=done)


def _get_diff(change: Json) -> str | None:
    """Return the diff of a changed file; one with all its lines would repeat the patch."""
    if not isinstance(change, dict):
        return None
    return get_text(change, "unified_diff") or get_text(
        get_mapping(change, "update"), "unified_diff"
    )


def _read_text(output: str) -> tuple[str, int | None]:
    """Return the text and the exit code; older versions wrap both in JSON."""
    if output.startswith("{"):
        wrapped = parse_text(output)
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
