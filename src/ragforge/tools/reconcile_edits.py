"""Reconcile: what became of edits whose process ended before their results were stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragforge.domain.conversations import ToolCall, ToolResult
from ragforge.errors import InputError
from ragforge.tools import edit_file, write_file
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import FileEdit, hash_content, read_bytes
from ragforge.tools.edits.journal import Journal, JournalEntry

EDITS = frozenset({write_file.NAME, edit_file.NAME})
DONE = "It was done before the process ended."
NOT_DONE = "It was not done: the process ended before."
UNCLEAR = "It may have been done before the process ended; the file has changed since. Read it."


def find_results(journal: Journal, root: Root, calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Return the edits among calls that have no result, each with the result it had.

    The journal is written before a file is changed, so an edit that is not in it was not made.
    Calls of other tools leave no such trace and are left out.
    """
    broken = [call for call in calls if call.result is None and call.tool_name in EDITS]
    if not broken:
        return []
    entries = list(journal.read_entries(root.path))  # the last first
    found = []
    for call in broken:
        own = [at for at, entry in enumerate(entries) if entry.call == call.uuid]
        result = _judge(root, entries, own[0]) if own else ToolResult(False, error=NOT_DONE)
        found.append(replace(call, result=result, success=result.success))
    return found


def _judge(root: Root, entries: Sequence[JournalEntry], at: int) -> ToolResult:
    """Return the result of a change by what the file was after it: as the next edit or now."""
    entry = entries[at]
    later = [one for one in entries[:at] if one.path == entry.path]
    try:
        after = later[-1].before if later else read_bytes(root, entry.path)
    except InputError:
        return ToolResult(False, error=UNCLEAR)
    if hash_content(after) == entry.after_hash:
        change = FileEdit(entry.path, entry.before, after)
        return ToolResult(True, {**change.to_json(), "note": DONE})
    if after == entry.before:
        return ToolResult(False, error=NOT_DONE)
    return ToolResult(False, error=UNCLEAR)
