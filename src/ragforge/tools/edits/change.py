"""Changes: a file before and after an edit, how it is applied, and a journal to undo it.

Each change has one file, which only the user can read. It is written before the change.
"""

from __future__ import annotations

import base64
import difflib
import json
import os
import stat
import time
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from ragforge.brain.files.beneath import Parent, open_parent
from ragforge.brain.files.exclusions import is_binary
from ragforge.domain import code
from ragforge.domain.conversations import ToolCall, ToolResult
from ragforge.domain.text import Json, keep_beginning
from ragforge.errors import InputError
from ragforge.private_files import create_private_file, make_private_folder
from ragforge.records import dataclass
from ragforge.tools.confine import Root

MAX_BYTES = 10_000_000
DIFF_CHARS = 50_000
_GIT = ".git"
_MARKS = ((BOM_UTF8, "utf-8"), (BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file of the project, its bytes now and the bytes it is to have; None: there is no file."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def diff(self) -> str:
        """The change as people read it; of a very long one the beginning."""
        return keep_beginning(self.whole_diff, DIFF_CHARS)

    @property
    def whole_diff(self) -> str:
        """All of the change, for the user who has to agree to it."""
        old, new = (_split_lines(self.path, data) for data in (self.before, self.after))
        lines = difflib.unified_diff(
            old,
            new,
            "/dev/null" if self.before is None else f"a/{self.path}",
            "/dev/null" if self.after is None else f"b/{self.path}",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def to_json(self) -> dict[str, Json]:
        diff = self.diff
        lines = diff.splitlines()[2:]
        return {
            "file": self.path,
            "created": self.before is None,
            "added": sum(line.startswith("+") for line in lines),
            "removed": sum(line.startswith("-") for line in lines),
            "before_hash": _hash_for_graph(self.before),
            "after_hash": _hash_for_graph(self.after),
            "diff": diff,
        }


def hash_content(data: bytes | None) -> str | None:
    """Return the hash of a content; None if there is no file."""
    return None if data is None else sha256(data).hexdigest()


def _hash_for_graph(data: bytes | None) -> str | None:
    """Return the hash that the code graph stores for this content."""
    return None if data is None else code.hash_content(data)


def resolve_target(root: Root, path: str) -> str:
    """Return the path of a file that may be changed, relative to the root and without links.

    Raises OutsideProject, or InputError if it is not a regular file or belongs to git.
    """
    place = root.inside(path)
    if not place:
        raise InputError("The path is the project itself. Name a file.")
    if _GIT in (part.lower() for part in place.split("/")):
        raise InputError(f"{path!r} belongs to git: files there can make git run code.")
    try:
        with open_parent(root.path, place) as parent:
            mode = parent.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return place
    except OSError as error:
        raise InputError(f"{path!r} cannot be changed: {error.strerror}.") from error
    if not stat.S_ISREG(mode):
        raise InputError(f"{path!r} is not a regular file.")
    return place


def read_bytes(root: Root, place: str) -> bytes | None:
    """Return a file's bytes, or None if there is none. Raises InputError."""
    try:
        with root.open(place) as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"{place!r} cannot be read: {error.strerror}.") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{place!r} is larger than {MAX_BYTES:,} bytes: it is not edited here.")
    return data


def apply_change(root: Root, change: FileEdit) -> None:
    """Write the file's new bytes atomically.

    Raises InputError if the file has changed since the edit was prepared.
    """
    place = resolve_target(root, change.path)
    if read_bytes(root, place) != change.before:
        raise InputError(f"{change.path!r} has changed in the meantime. Read it again.")
    try:
        with open_parent(root.path, place, make=change.after is not None) as parent:
            if change.after is None:
                parent.unlink()
            else:
                parent.replace(change.after, _get_mode(parent))
    except OSError as error:
        raise InputError(f"{change.path!r} cannot be written: {error.strerror}.") from error


def _get_mode(parent: Parent) -> int:
    try:
        return stat.S_IMODE(parent.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _split_lines(path: str, data: bytes | None) -> list[str]:
    if data is None:
        return []
    try:
        return EditableText.of(path, data).content.splitlines(keepends=True)
    except InputError:
        return ["(binary)\n"]


@dataclass(frozen=True, slots=True)
class EditableText:
    """A file's text with `\\n` between lines, and how it is encoded on disk."""

    content: str
    encoding: str = "utf-8"
    mark: bytes = b""  # before the first letter
    crlf: bool = False

    @classmethod
    def of(cls, path: str, data: bytes) -> EditableText:
        """Decode bytes. Raises InputError if they are not text."""
        if is_binary(data):
            raise InputError(f"{path!r} cannot be edited: it is binary.")
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                return _unify_line_ends(
                    data[len(mark) :].decode(encoding, "surrogatepass"), encoding, mark
                )
        try:
            return _unify_line_ends(data.decode("utf-8"), "utf-8", b"")
        except UnicodeDecodeError:
            return _unify_line_ends(data.decode("latin-1"), "latin-1", b"")

    def with_content(self, content: str) -> EditableText:
        return replace(self, content=content)

    def to_bytes(self) -> bytes:
        """Return the bytes for the disk. Raises InputError if the encoding lacks a character."""
        text = self.content.replace("\n", "\r\n") if self.crlf else self.content
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            letter = text[error.start]
            raise InputError(f"The file is in {self.encoding}, which has no {letter!r}.") from error


def _unify_line_ends(text: str, encoding: str, mark: bytes) -> EditableText:
    only_crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    content = text.replace("\r\n", "\n") if only_crlf else text
    return EditableText(content, encoding, mark, only_crlf)


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
