"""Change: a file before and after an edit, and how it is applied."""

from __future__ import annotations

import difflib
import os
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import replace
from hashlib import sha256

from ragforge.brain.files.beneath import Parent, open_parent
from ragforge.brain.files.exclusions import is_binary
from ragforge.domain import code
from ragforge.domain.text import Json, keep_beginning
from ragforge.errors import InputError
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
