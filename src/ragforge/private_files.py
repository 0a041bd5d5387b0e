"""Private files: files and folders that only their owner can read, and files written atomically.

Modes are given when a file is created, so that it is never readable by others, not even for a
moment, and whatever the umask is. On Windows modes mean nothing, and folders of a user are private.
"""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

_OTHERS = 0o077
_DRAFT = r"\.ragforge-(?:(?P<pid>\d+)-)?(?=[a-z]*[0-9_])[a-z0-9_]{8}"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL
for _name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)
_LEFT_SECONDS = 60.0
"""A draft exists for a moment. One of a process that is not here may be another machine's."""
_OLD_SECONDS = 24 * 60 * 60.0


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


def replace_file(path: str, data: bytes, mode: int = 0o600, folder: int | None = None) -> None:
    """Replace a file atomically; the new content is durable on return. Raises OSError.

    `folder` is the descriptor of a directory that the path starts from. What killed processes
    left of such writes in the same directory is removed.
    """
    place = os.path.dirname(path)
    remove_drafts(place or ".", folder)
    draft = os.path.join(place, f".ragforge-{os.getpid()}-0{os.urandom(4).hex()[1:]}")
    handle = os.open(draft, _FLAGS, 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(draft, path, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise
    _sync_directory(place or ".", folder)


def remove_drafts(place: str, folder: int | None = None) -> None:
    """Remove the drafts in a directory whose process is gone, or that are older than a day."""
    with suppress(OSError):
        for name in os.listdir(place if folder is None else folder):
            if (match := re.fullmatch(_DRAFT, name)) is None:
                continue
            draft = os.path.join(place, name)
            with suppress(OSError):
                facts = os.stat(draft, dir_fd=folder, follow_symlinks=False)
                if _is_left(match["pid"], time.time() - facts.st_mtime):
                    os.unlink(draft, dir_fd=folder)


def _sync_directory(place: str, folder: int | None) -> None:
    """Make the new name durable. Some file systems cannot, and do it themselves."""
    if os.name != "posix":
        return
    with suppress(OSError):
        handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _is_left(pid: str | None, age: float) -> bool:
    if age > _OLD_SECONDS:
        return True
    return age > _LEFT_SECONDS and pid is not None and not _exists(int(pid))


def _exists(pid: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
