"""Journal: the contents of files before RagForge changed them, so that changes can be undone.

Each change has one file, which only the user can read. It is written before the change.
"""

from __future__ import annotations

import base64
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path

from ragforge.domain.conversations import ToolCall, ToolResult
from ragforge.errors import InputError
from ragforge.private_files import create_private_file, make_private_folder
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import FileEdit, apply_change, hash_content, read_bytes

KEPT = 200
"""Changes of one conversation; older ones can no longer be undone."""
CALL: ContextVar[str] = ContextVar("call", default="")
"""The id of the running call, as the conversation stores it: a change is found again by it."""

EDITS = frozenset(("write_file", "edit_file"))
DONE = "It was completed before the process ended."
NOT_DONE = "It was not done: the process ended first."
UNCLEAR = "It may have been done before the process ended; the file has changed since. Read it."


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A change that was made, or was about to be."""

    file: Path
    root: str
    path: str
    before: bytes | None
    after_hash: str | None
    call: str = ""  # the id of the call that made it

    @property
    def made_at(self) -> int:
        """When it was made, in nanoseconds of the clock."""
        return int(self.file.name.partition("-")[0])


@dataclass(frozen=True, slots=True)
class Journal:
    """The changes of one conversation."""

    folder: Path

    @classmethod
    def of(cls, state: Path, conversation_id: str) -> Journal:
        return cls(state / "edits" / conversation_id)

    def make(
        self, root: Root, change: FileEdit, write: Callable[[Root, FileEdit], None] | None = None
    ) -> FileEdit:
        """Make a change, store what undoes it, and return it as it was made.

        A custom `write` may format what it writes: the result is the change then.
        If it raises InputError, nothing is changed.
        """
        entry = self._keep(root, change)
        try:
            (write or apply_change)(root, change)
        except InputError:
            entry.unlink()
            raise
        if write is None:
            return change
        made = replace(change, after=read_bytes(root, change.path))
        if made.after != change.after:
            self._keep(root, made)
            entry.unlink()
        return made

    def undo(self, root: Root) -> FileEdit:
        """Undo the last change and return the undoing change.

        Raises InputError if there is none, or if the file has changed since.
        """
        for entry in self.read_entries(root.path):
            now = read_bytes(root, entry.path)
            if hash_content(now) == entry.after_hash:
                undone = FileEdit(entry.path, now, entry.before)
                apply_change(root, undone)
                entry.file.unlink()
                return undone
            if now != entry.before:
                raise InputError(
                    f"{entry.path!r} has changed since RagForge edited it; it is left unchanged."
                )
            entry.file.unlink()  # it was never made, or is undone already
        raise InputError("There is nothing to undo in this session.")

    def copy_until(self, moment: int, into: Journal) -> None:
        """Copy the changes before a moment (nanoseconds) to another journal.

        Raises InputError if that cannot be written.
        """
        try:
            for file in sorted(self.folder.glob("*.json")):
                if int(file.name.partition("-")[0]) < moment:
                    make_private_folder(into.folder)
                    create_private_file(into.folder / file.name)
                    (into.folder / file.name).write_bytes(file.read_bytes())
        except OSError as error:
            raise InputError(f"{into.folder} cannot be written: {error.strerror}.") from error

    def _keep(self, root: Root, change: FileEdit) -> Path:
        kept = None
        if change.before is not None:
            kept = base64.b64encode(zlib.compress(change.before)).decode()
        facts = {
            "root": root.path,
            "path": change.path,
            "before": kept,
            "after_hash": hash_content(change.after),
            "call": CALL.get(),
        }
        try:
            make_private_folder(self.folder)
            file = self.folder / f"{time.time_ns():020d}-{os.getpid()}.json"
            create_private_file(file)
            with file.open("w", encoding="utf-8") as out:
                json.dump(facts, out)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise InputError(
                f"The undo copy cannot be written to {self.folder}: {error.strerror}."
            ) from error
        for old in sorted(self.folder.glob("*.json"))[:-KEPT]:
            with suppress(OSError):
                old.unlink()
        return file

    def read_entries(self, root: str) -> Iterator[JournalEntry]:
        """Yield the changes in this project, the last first; unreadable ones are skipped."""
        for file in sorted(self.folder.glob("*.json"), reverse=True):
            with suppress(OSError, ValueError, KeyError, zlib.error):
                facts = json.loads(file.read_text("utf-8"))
                kept = facts["before"]
                before = None if kept is None else zlib.decompress(base64.b64decode(kept))
                if facts["root"] == root:
                    call = facts.get("call", "")
                    yield JournalEntry(file, root, facts["path"], before, facts["after_hash"], call)


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
