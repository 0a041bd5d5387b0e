"""Claude Code's edits: which files a result changed, and how they read before and after."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from ragforge.transcripts.fields import get_text
from ragforge.transcripts.record import FileChange


def find_changes(result: object) -> tuple[FileChange, ...]:
    """Return the files that a result says were written."""
    if not isinstance(result, dict):
        return ()
    path = get_text(result, "filePath")
    wrote = "oldString" in result or "edits" in result or result.get("type") in ("create", "update")
    if path is None or not wrote:
        return ()
    before, after = _find_contents(result)
    return (FileChange(path, hash_text(before), hash_text(after)),)


def hash_text(text: str | None) -> str | None:
    """Return the hash of a file's content, as files of the project have it."""
    if text is None:
        return None
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _find_contents(result: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the file before and after; None where the transcript does not have it."""
    before = result.get("originalFile")
    before = before if isinstance(before, str) else None
    if isinstance(content := result.get("content"), str):
        return before, content
    if before is None:
        return None, None
    after = before
    steps = result.get("edits") if isinstance(result.get("edits"), list) else [result]
    for step in steps or ():
        old, new = _read_step(step)
        if old is None or new is None or old not in after:
            return before, None
        times = -1 if step.get("replaceAll") or step.get("replace_all") else 1
        after = after.replace(old, new, times)
    return before, after


def _read_step(step: object) -> tuple[str | None, str | None]:
    if not isinstance(step, dict):
        return None, None
    old = step.get("oldString", step.get("old_string"))
    new = step.get("newString", step.get("new_string"))
    return (old, new) if isinstance(old, str) and isinstance(new, str) else (None, None)
