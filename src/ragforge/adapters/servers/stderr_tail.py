"""Stderr tail: what a server wrote to its standard error, of which the end is kept.

It often says why the server ended. A terminal is no place for it, and a file would grow.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from types import TracebackType
from typing import TextIO

KEPT = 4_000


class StderrTail:
    """A pipe whose end is read all the time: a server that writes much is not held up."""

    def __init__(self) -> None:
        self._read, write = os.pipe()
        self.file: TextIO = os.fdopen(write, "w")
        self._tail = b""
        self._thread = threading.Thread(target=self._follow, daemon=True, name="server-stderr")

    def __enter__(self) -> StderrTail:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def release(self) -> None:
        """Close our own end: the pipe ends with the server."""
        with suppress(OSError):
            self.file.close()

    def find(self) -> str:
        """Return the last line that says something; empty if there is none."""
        self._thread.join(0.2)  # a server that has just ended may have written just before
        lines = [line.strip() for line in self._tail.decode(errors="replace").splitlines()]
        return next((line for line in reversed(lines) if line), "")

    def _follow(self) -> None:
        with suppress(OSError):
            while data := os.read(self._read, 65_536):
                self._tail = (self._tail + data)[-KEPT:]
        with suppress(OSError):
            os.close(self._read)
