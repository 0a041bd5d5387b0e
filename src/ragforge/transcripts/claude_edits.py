"""Claude Code's edits: which files a result changed, and how they read before and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragforge.domain.text import Json
from ragforge.transcripts.edits import hash_text
from ragforge.transcripts.fields import get_number, get_text
from ragforge.transcripts.record import FileChange


def find_changes(result: Json) -> tuple[FileChange, ...]:
    """Return the files that a result says were written."""
    if not isinstance(result, dict):
        return ()
    path = get_text(result, "filePath")
    wrote = "oldString" in result or "edits" in result or result.get("type") in ("create", "update")
    if path is None or not wrote:
        return ()
    before, after = _find_contents(result)
    diff = _join_patch(result.get("structuredPatch"))
    return (FileChange(path, hash_text(before), hash_text(after), diff),)


def _find_contents(result: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the file before and after; None where the transcript does not have it."""
    before = result.get("originalFile", result.get("originalFileContents"))
    before = before if isinstance(before, str) else None
    if isinstance(content := result.get("content"), str):
        return before, content
    if before is None:
        return None, None
    after = before
    steps = result.get("edits")
    for step in steps if isinstance(steps, list) else [result]:
        old, new = _read_step(step)
        if old is None or new is None or old not in after:
            return before, None
        times = -1 if step.get("replaceAll") or step.get("replace_all") else 1
        after = after.replace(old, new, times)
    # What somebody changed by hand before they agreed to it is in the patch alone.
    return before, None if result.get("userModified") else after


def _read_step(step: object) -> tuple[str | None, str | None]:
    if not isinstance(step, dict):
        return None, None
    old = step.get("oldString", step.get("old_string"))
    new = step.get("newString", step.get("new_string"))
    return (old, new) if isinstance(old, str) and isinstance(new, str) else (None, None)


def _join_patch(hunks: Json) -> str | None:
    """Return hunks as the text of a unified diff."""
    if not isinstance(hunks, list):
        return None
    texts: list[str] = []
    for hunk in hunks:
        if not isinstance(hunk, dict) or not isinstance(lines := hunk.get("lines"), list):
            return None
        names = ("oldStart", "oldLines", "newStart", "newLines")
        old, old_count, new, new_count = (get_number(hunk, name) or 0 for name in names)
        texts.append(f"@@ -{old},{old_count} +{new},{new_count} @@")
        texts += [line for line in lines if isinstance(line, str)]
    return "\n".join(texts) or None
