"""Compressed: transcripts that an agent packed with Zstandard after a while."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ragforge.errors import TranscriptUnreadable
from ragforge.transcripts.files import open_regular

# The same library: Python has it since 3.14, and the package brings it to older ones.
_MODULE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


def is_compressed(path: Path) -> bool:
    return path.suffix == ".zst"


@contextmanager
def open_compressed(path: Path) -> Iterator[BinaryIO]:
    """Open a packed file for reading. Raises OSError and TranscriptUnreadable."""
    library: Any = importlib.import_module(_MODULE)
    try:
        with open_regular(path) as file, library.open(file, "rb") as stream:
            yield stream
    except (library.ZstdError, EOFError) as error:
        raise TranscriptUnreadable(path, f"it cannot be unpacked: {error}") from error
