"""Lines: the complete lines of a file that grows, from where the last reading ended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

MAX_LINE = 64 * 1024 * 1024
"""A longer line is skipped: it holds a picture, or the file is no transcript."""
_CHUNK = 1024 * 1024
_TAIL = 256  # bytes before the position that are compared


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file was read: which file it was, up to where, and how it read there."""

    device: int = 0
    inode: int = 0
    offset: int = 0
    tail: str = ""  # the hash of the bytes before the offset


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end, and the offset after it. `data` is None if it was too long."""

    data: bytes | None
    end: int


def read_lines(path: Path, position: Position, max_line: int = MAX_LINE) -> Iterator[Line]:
    """Yield the complete lines after a position; all of them if the file is another one now.

    A file that was shortened or written anew is read from its beginning: what was read before is
    known by its ids. A last line without an end is left for the next time. Raises OSError.
    """
    with path.open("rb", buffering=0) as file:
        offset = position.offset if continues(file.fileno(), position) else 0
        file.seek(offset)
        pending: list[bytes] = []
        size = 0
        while chunk := file.read(_CHUNK):
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                offset += size + len(end) + 1
                data = b"".join((*pending, end)) if size + len(end) <= max_line else None
                pending, size = [], 0
                yield Line(data, offset)
            size += len(rest)
            if size <= max_line:
                pending.append(rest)
            else:
                pending = []


def continues(descriptor: int, position: Position) -> bool:
    """Tell whether the file is the one that was read, and still reads the same up to there."""
    facts = os.fstat(descriptor)
    if position.offset == 0 or facts.st_size < position.offset:
        return False
    return _hash_tail(descriptor, position.offset) == position.tail


def mark_position(path: Path, offset: int) -> Position:
    """Return the position in a file after so many bytes. Raises OSError."""
    with path.open("rb", buffering=0) as file:
        facts = os.fstat(file.fileno())
        return Position(facts.st_dev, facts.st_ino, offset, _hash_tail(file.fileno(), offset))


def _hash_tail(descriptor: int, offset: int) -> str:
    start = max(0, offset - _TAIL)
    os.lseek(descriptor, start, os.SEEK_SET)
    return blake2b(os.read(descriptor, offset - start), digest_size=16).hexdigest()
