"""Tool calls: what an editor shows of a call: its kind, its places, its result."""

from __future__ import annotations

from pathlib import Path

from acp import text_block, tool_content, tool_diff_content
from acp.helpers import ToolCallContentVariant
from acp.schema import FileEditToolCallContent, ToolCallLocation, ToolKind

from ragforge.acp.texts import clean, shorten
from ragforge.domain.text import Json, to_text
from ragforge.show.calls import format_headline, format_outcome
from ragforge.show.hunks import is_new_file, read_hunks

_TOOLS: dict[ToolKind, tuple[str, ...]] = {
    "edit": ("edit_file", "write_file"),
    "execute": ("command_output", "run_command"),
    "fetch": ("fetch_url", "web_search"),
    "read": ("git_diff", "git_log", "git_status", "read_file", "read_memory", "read_skill"),
    "search": (
        *("explore_code", "glob_files", "grep_files", "list_files", "search_code"),
        *("search_files", "search_memory", "sessions_about"),
    ),
    "think": ("batch_analyze", "delegate", "plan"),
}
_KINDS = {name: kind for kind, names in _TOOLS.items() for name in names}
_FILES = ("path", "file")
_PRINTED = ("stdout", "output", "stderr", "content", "text", "answer")


def get_kind(name: str) -> ToolKind:
    """Return the kind of a tool; tools that are not built in are `other`."""
    return _KINDS.get(name, "other")


def format_title(name: str, arguments: Json) -> str:
    """Return a call on one line."""
    return clean(f"{name} {format_headline(arguments)}".rstrip())


def list_places(root: Path, arguments: Json) -> list[ToolCallLocation]:
    """Return the file that a call is about, so that an editor can follow it."""
    if not isinstance(arguments, dict):
        return []
    named = (arguments.get(key) for key in _FILES)
    path = next((one for one in named if isinstance(one, str) and one), None)
    if path is None:
        return []
    line = arguments.get("start_line")
    number = line if isinstance(line, int) and line > 0 else None
    return [ToolCallLocation(path=clean(str(root / path)), line=number)]


def format_result(root: Path, result: Json, error: str | None) -> list[ToolCallContentVariant]:
    """Return the result of a call: the change of a file, or text."""
    if error is not None:
        return [tool_content(text_block(shorten(error)))]
    if isinstance(result, dict):
        diff, file = result.get("diff"), result.get("file")
        if isinstance(diff, str) and isinstance(file, str):
            return [*list_changes(root / file, diff)]
    text = _find_text(result)
    return [tool_content(text_block(shorten(text)))] if text.strip() else []


def _find_text(result: Json) -> str:
    if isinstance(result, dict):
        printed = [result[key] for key in _PRINTED if isinstance(result.get(key), str)]
        if "exit_code" in result:
            printed.append(format_outcome(result))
        if printed:
            return "\n".join(text.strip("\n") for text in printed if text.strip())
    return "" if result is None else to_text(result)


def list_changes(path: Path, diff: str) -> list[FileEditToolCallContent]:
    """Return the hunks of a unified diff, each as the text before and after it."""
    is_new = is_new_file(diff)
    changes = []
    for hunk in read_hunks(diff)[0]:
        old = "".join(f"{line.text}\n" for line in hunk.lines if line.sign != "+")
        new = "".join(f"{line.text}\n" for line in hunk.lines if line.sign != "-")
        changes.append(tool_diff_content(str(path), clean(new), None if is_new else clean(old)))
    return changes
