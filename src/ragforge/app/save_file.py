"""Save a file: what a user exports to a path of their own."""

from __future__ import annotations

from pathlib import Path

from ragforge.brain.files.atomic_write import replace_file
from ragforge.errors import InputError


def save_file(path: Path, data: bytes) -> None:
    """Write a file completely or not at all, readable by its owner only; or write to a pipe.

    Raises InputError.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            replace_file(str(path), data)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
