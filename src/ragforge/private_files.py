"""Private files: files and folders that only their owner can read.

Modes are given when a file is created, so that it is never readable by others, not even for a
moment, and whatever the umask is. On Windows modes mean nothing, and folders of a user are private.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

_OTHERS = 0o077


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents so that only their owner can use them.

    A folder that is there stays as it is: it may be one that the user shares. Raises OSError.
    """
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)
        place.chmod(0o700)  # a strict umask may have taken more
    if not folder.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(folder))


def create_private_file(path: Path) -> None:
    """Create an empty file that only its owner can read; close an existing one to others.

    Raises OSError if it cannot be created.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        close_to_others(path)
    else:
        path.chmod(0o600)  # a strict umask may have taken more


def close_to_others(path: Path) -> None:
    """Take from others every right to a file; one that is missing, or not ours, stays."""
    with suppress(OSError):
        facts = path.stat()
        if os.name != "nt" and stat.S_ISREG(facts.st_mode) and facts.st_mode & _OTHERS:
            path.chmod(stat.S_IMODE(facts.st_mode) & ~_OTHERS)


def open_private(path: Path) -> TextIOWrapper:
    """Open a file to append to that only its owner can read. Raises OSError."""
    make_private_folder(path.parent)
    create_private_file(path)
    return path.open("a", encoding="utf-8", errors="backslashreplace")
