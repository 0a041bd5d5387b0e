"""Whole file: written all of it, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ragforge.errors import InputError


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, for its owner's eyes; a pipe or device as it comes."""
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:50]}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
