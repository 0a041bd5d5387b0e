"""Whole: a file that is written all of it, or not at all."""

from __future__ import annotations

import os
import re
import tempfile
import time
from contextlib import suppress

_DRAFT = re.compile(r"\.ragforge-(?:(?P<pid>\d+)-)?(?=[a-z]*[0-9_])[a-z0-9_]{8}")
_LEFT_SECONDS = 60.0
"""A draft exists for a moment. One of a process that is not here may be another machine's."""
_OLD_SECONDS = 24 * 60 * 60.0


def replace_file(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write beside a file and put it in its place, durable when this returns. Raises OSError.

    What killed processes left of such writes in the same folder is removed.
    """
    folder = os.path.dirname(path) or "."
    remove_drafts(folder)
    handle, draft = tempfile.mkstemp(prefix=f".ragforge-{os.getpid()}-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def remove_drafts(folder: str) -> None:
    """Remove the drafts in a folder whose process is gone, or that are older than a day."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if (match := _DRAFT.fullmatch(entry.name)) is None:
                continue
            with suppress(OSError):
                if entry.is_file(follow_symlinks=False) and _is_left(
                    match["pid"], time.time() - entry.stat(follow_symlinks=False).st_mtime
                ):
                    os.unlink(entry.path)


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
