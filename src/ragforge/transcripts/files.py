"""Files: the files below a folder, as far as it may be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path


def walk_files(folder: Path, fits: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield the files that fit; folders that are missing or may not be read hold none.

    Links to folders are not followed: what they lead to has its own place, or is a circle.
    """
    for parent, _, names in os.walk(folder):
        yield from (path for name in names if fits(path := Path(parent, name)))


def read_written_at(path: Path) -> datetime | None:
    """Return when a file was last written, for agents that note no times."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return None
