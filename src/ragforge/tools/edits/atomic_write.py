"""Whole: a file that is written all of it, or not at all."""

from __future__ import annotations

import os
import tempfile


def replace_file(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write beside a file and put it in its place, durable when this returns. Raises OSError."""
    handle, draft = tempfile.mkstemp(prefix=".ragforge-", dir=os.path.dirname(path) or ".")
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
