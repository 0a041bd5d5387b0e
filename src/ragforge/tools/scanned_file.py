"""Scanned file: one that ripgrep has searched by its path, opened again beneath the root."""

from __future__ import annotations

import io
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

from ragforge.brain.files.content_check import decode, is_binary
from ragforge.brain.files.secret_files import HEAD_BYTES, has_secret_content
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.listing import LIMITS


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """The bytes that ripgrep must have read, if the path led where it was listed."""

    content: io.BufferedReader | io.BytesIO
    start: int = 0  # where ripgrep counts from

    @classmethod
    def open(cls, root: Root, path: str) -> ScannedFile | None:
        """Open a file; None if it is gone, binary, secret, or no regular file of the project."""
        try:
            file = root.open(path)
        except OSError:
            return None
        head = file.read(HEAD_BYTES)
        if is_binary(head) or has_secret_content(path, head):
            file.close()
            return None
        if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # ripgrep searches it as UTF-8
            with file:
                rest = file.read(LIMITS.max_bytes)
            return cls(io.BytesIO(decode(head + rest).encode(errors="replace")))
        return cls(file, len(BOM_UTF8) if head.startswith(BOM_UTF8) else 0)

    def holds(self, raw: bytes, offset: int) -> bool:
        """Tell whether these bytes stand at a place of the file."""
        for start in {self.start, 0}:
            self.content.seek(start + offset)
            if self.content.read(len(raw)) == raw:
                return True
        return False

    def close(self) -> None:
        self.content.close()
