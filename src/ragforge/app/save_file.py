"""Whole file: what a user wants written to a path of their own."""

from __future__ import annotations

from pathlib import Path

from ragforge.errors import InputError
from ragforge.tools.edits.atomic_write import replace_file


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, for its owner's eyes; a pipe or device as it comes.

    Raises InputError.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            replace_file(str(path), data)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
