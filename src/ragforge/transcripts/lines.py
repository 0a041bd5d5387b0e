"""Lines: the complete lines of a growing file, from where the last reading ended."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ragforge.domain.text import Json
from ragforge.errors import TranscriptUnreadable
from ragforge.transcripts.files import open_regular

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


@contextmanager
def open_compressed(path: Path) -> Iterator[BinaryIO]:
    """Open a packed file for reading. Raises OSError and TranscriptUnreadable."""
    library: Any = importlib.import_module(_MODULE)
    try:
        with open_regular(path) as file, library.open(file, "rb") as stream:
            yield stream
    except (library.ZstdError, EOFError) as error:
        raise TranscriptUnreadable(path, f"it cannot be unpacked: {error}") from error
