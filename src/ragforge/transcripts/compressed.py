"""Compressed: transcripts that an agent packed with Zstandard after a while."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ragforge.errors import TranscriptUnreadable

# The standard library has it from Python 3.14 on; the packages have it for older ones.
_MODULES = ("compression.zstd", "backports.zstd", "zstandard")
NEEDS = "it is packed: reading it needs zstandard (pip install zstandard), or Python 3.14"


def is_compressed(path: Path) -> bool:
    return path.suffix == ".zst"


@contextmanager
def open_compressed(path: Path) -> Iterator[BinaryIO]:
    """Open a packed file for reading. Raises OSError and TranscriptUnreadable."""
    library = _find_library()
    if library is None:
        raise TranscriptUnreadable(path, NEEDS)
    errors = tuple(filter(None, (getattr(library, "ZstdError", None), EOFError)))
    try:
        with library.open(path, "rb") as stream:
            yield stream
    except errors as error:
        raise TranscriptUnreadable(path, f"it cannot be unpacked: {error}") from error


def _find_library() -> Any:
    for name in _MODULES:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None
