"""Files: the readable files below a folder; only regular ones are opened."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any

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
