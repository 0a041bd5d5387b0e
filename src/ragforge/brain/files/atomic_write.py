"""Atomic write: a file is written completely, or not at all."""

from __future__ import annotations

import os
import re
import secrets
import time
from contextlib import suppress

_DRAFT = re.compile(r"\.ragforge-(?:(?P<pid>\d+)-)?(?=[a-z]*[0-9_])[a-z0-9_]{8}")
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL
for _name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)
_LEFT_SECONDS = 60.0
"""A draft exists for a moment. One of a process that is not here may be another machine's."""
_OLD_SECONDS = 24 * 60 * 60.0


def replace_file(path: str, data: bytes, mode: int = 0o600, folder: int | None = None) -> None:
    """Replace a file atomically; the new content is durable on return. Raises OSError.

    `folder` is the descriptor of a directory that the path starts from. What killed processes
    left of such writes in the same directory is removed.
    """
    place = os.path.dirname(path)
    remove_drafts(place or ".", folder)
    draft = os.path.join(place, f".ragforge-{os.getpid()}-0{secrets.token_hex(4)[1:]}")
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
            if (match := _DRAFT.fullmatch(name)) is None:
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
