"""Diffs: a unified diff as the parts of a file before and after, which editors show."""

from __future__ import annotations

from pathlib import Path

from acp import tool_diff_content
from acp.schema import FileEditToolCallContent

from ragforge.acp.texts import clean

_NEW_FILE = "--- /dev/null"


def list_changes(path: Path, diff: str) -> list[FileEditToolCallContent]:
    """Return the hunks of a unified diff, each as the text before and after it."""
    is_new = diff.startswith(_NEW_FILE)
    changes = []
    for hunk in _split_hunks(diff):
        old = "".join(line[1:] for line in hunk if line[:1] in (" ", "-"))
        new = "".join(line[1:] for line in hunk if line[:1] in (" ", "+"))
        changes.append(tool_diff_content(str(path), clean(new), None if is_new else clean(old)))
    return changes


def _split_hunks(diff: str) -> list[list[str]]:
    """Return the lines of each hunk, with their signs."""
    hunks: list[list[str]] = []
    for line in diff.split("\n"):
        if line.startswith("@@ "):
            hunks.append([])
        elif hunks and line:
            hunks[-1].append(f"{line}\n")
    return hunks
