"""Files: the files below a folder, as far as it may be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path


def walk_files(
    folder: Path, fits: Callable[[Path], bool], ends: tuple[str, ...] = ("",)
) -> Iterator[Path]:
    """Yield the files that fit, and whose names end so; folders that may not be read hold none.

    Links to folders are not followed: what they lead to has its own place, or is a circle.
    """
    for parent, _, names in os.walk(folder):
        found = [name for name in names if name.endswith(ends)]
        yield from (path for name in found if fits(path := Path(parent, name)))


def sort_files(paths: Iterable[Path], is_late: Callable[[str], bool]) -> list[Path]:
    """Return the paths that were written longest ago first, and sub-agents' last.

    A fork repeats the session that it continues. Read after it, it adds only what is new.
    """
    named = [(os.fspath(path), path) for path in paths]
    ordered = sorted((is_late(name), _get_written(name), name, path) for name, path in named)
    return [path for *_, path in ordered]


def _get_written(name: str) -> int:
    try:
        return os.stat(name).st_mtime_ns
    except OSError:  # it is gone: reading it will say so
        return 0


def read_written_at(path: Path) -> datetime | None:
    """Return when a file was last written, for agents that note no times."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return None
