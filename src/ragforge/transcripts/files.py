"""Files: the readable files below a folder, and the complete lines of one that grows.

Only regular files are opened.
"""

from __future__ import annotations

import errno
import importlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from hashlib import blake2b
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ragforge.domain.text import Json
from ragforge.errors import TranscriptUnreadable
from ragforge.transcripts.fields import parse_json

# Opening a pipe would wait for a writer; reading some devices never ends.
_READ = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


def open_regular(path: Path) -> FileIO:
    """Open a regular file, or a link to one, for reading. Raises OSError, also for any other."""
    check_regular(path, os.stat(path))  # opening a device may already have an effect
    descriptor = os.open(path, _READ)
    try:
        check_regular(path, os.fstat(descriptor))  # it may be a different file now
        return FileIO(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def read_regular(path: Path) -> bytes:
    """Return the content of a regular file. Raises OSError."""
    with open_regular(path) as file:
        return file.read() or b""


def read_object(path: Path) -> Mapping[str, Any]:
    """Return the JSON object in a file; an empty one if there is none."""
    try:
        value = parse_json(read_regular(path))
    except OSError:
        return {}
    return value if isinstance(value, dict) else {}


def check_regular(path: Path, facts: os.stat_result) -> None:
    """Raise OSError with a sentence unless this is a regular file."""
    if not stat.S_ISREG(facts.st_mode):
        kind = _KINDS.get(stat.S_IFMT(facts.st_mode), "something else")
        raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", str(path))


def is_there(path: Path) -> bool:
    """Tell whether there is anything but a folder; reading it fails unless it is a file."""
    return os.path.lexists(path) and not path.is_dir()


def walk_files(
    folder: Path, fits: Callable[[Path], bool], ends: tuple[str, ...] = ("",)
) -> Iterator[Path]:
    """Yield the files that fit and have one of the endings; unreadable folders are skipped.

    Links to folders are not followed: their targets are found elsewhere, or are cycles.
    """
    for parent, _, names in os.walk(folder):
        found = [name for name in names if name.endswith(ends)]
        yield from (path for name in found if fits(path := Path(parent, name)))


def sort_files(paths: Iterable[Path], is_late: Callable[[str], bool]) -> list[Path]:
    """Return the paths, the least recently written first, and sub-agents' last.

    A fork repeats the session that it continues. Read after it, it adds only what is new.
    """
    named = [(os.fspath(path), path) for path in paths]
    ordered = sorted((is_late(name), _get_written(name), name, path) for name, path in named)
    return [path for *_, path in ordered]


def _get_written(name: str) -> int:
    try:
        return os.stat(name).st_mtime_ns
    except OSError:  # it is gone: reading it will raise
        return 0


def read_written_at(path: Path) -> datetime | None:
    """Return when a file was last written, for agents that note no times."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return None


MAX_LINE = 64 * 1024 * 1024
"""A longer line is skipped: it contains an image, or the file is not a transcript."""
TOO_LONG = "longer than 64 MB"
_CHUNK = 1024 * 1024
_TAIL = 256  # bytes before the position that are compared


# The same library: Python has it since 3.14, and the package brings it to older ones.
_MODULE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


class Line(NamedTuple):
    """A line without its end, and where it begins and ends. `data` is None if it was too long."""

    data: bytes | None
    start: int
    end: int
    number: int  # of those that are read, from 1


class Lines:
    """The complete lines of an open file after a position; all if the file is another one now.

    A file that was shortened or rewritten is read from its beginning. A last line without an
    end is in `rest` after the others; whoever cannot tell whether it is complete leaves it.
    """

    def __init__(self, file: BinaryIO, position: Json, max_line: int, can_continue: bool) -> None:
        self._file = file
        self._max_line = max_line
        self._can_continue = can_continue
        self.rest: Line | None = None
        offset = position.get("offset") if isinstance(position, dict) else None
        self.continues = (
            can_continue
            and isinstance(offset, int)
            and offset > 0
            and self._hash_tail(offset) == position.get("tail")
        )
        self._start = offset if self.continues and isinstance(offset, int) else 0

    def __iter__(self) -> Iterator[Line]:
        start = begin = self._start  # of the line, and of the chunk
        pending: list[bytes] = []
        size = number = 0
        while chunk := self._read(begin, _CHUNK):
            begin += len(chunk)
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                size += len(end)
                data = b"".join((*pending, end)) if size <= self._max_line else None
                pending, line_start = [], start
                start += size + 1
                size = 0
                number += 1
                yield Line(data, line_start, start, number)
            size += len(rest)
            if size <= self._max_line:
                pending.append(rest)
            else:
                pending = []
        if 0 < size <= self._max_line:
            self.rest = Line(b"".join(pending), start, start + size, number + 1)

    @cached_property
    def count_before(self) -> int:
        """The number of lines that were read before, counted only on demand."""
        count = at = 0
        while at < self._start and (chunk := self._read(at, min(_CHUNK, self._start - at))):
            count, at = count + chunk.count(b"\n"), at + len(chunk)
        return count

    def mark(self, offset: int) -> Json:
        """Return the position at an offset: the offset, and a hash of what comes before it."""
        if not self._can_continue:
            return None
        return {"offset": offset, "tail": self._hash_tail(offset)}

    def _read(self, begin: int, size: int) -> bytes:
        if self._can_continue:
            self._file.seek(begin)
        return self._file.read(size) or b""  # None: there is nothing to read for now

    def _hash_tail(self, offset: int) -> str:
        start = max(0, offset - _TAIL)
        tail = self._read(start, offset - start)
        return blake2b(tail, digest_size=16).hexdigest() if len(tail) == offset - start else ""


@contextmanager
def open_lines(path: Path, position: Json = None, max_line: int = MAX_LINE) -> Iterator[Lines]:
    """Open a file of lines, compressed or not. Raises OSError and TranscriptUnreadable."""
    if is_compressed(path):  # it does not grow: read all of it
        with open_compressed(path) as stream:
            yield Lines(stream, None, max_line, False)
    else:
        with open_regular(path) as file:
            yield Lines(file, position, max_line, True)


def is_compressed(path: Path) -> bool:
    return path.suffix == ".zst"


def load_zstd() -> Any:
    """Return the library for compressed files, which few commands need."""
    return importlib.import_module(_MODULE)


@contextmanager
def open_compressed(path: Path) -> Iterator[BinaryIO]:
    """Open a packed file for reading. Raises OSError and TranscriptUnreadable."""
    library = load_zstd()
    try:
        with open_regular(path) as file, library.open(file, "rb") as stream:
            yield stream
    except (library.ZstdError, EOFError) as error:
        raise TranscriptUnreadable(path, f"it cannot be unpacked: {error}") from error
