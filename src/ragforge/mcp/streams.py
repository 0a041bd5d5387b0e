"""Streams: standard input and output, reserved for messages.

Both are served by threads: input may be a file or a terminal, which an event loop cannot wait for,
and a client that does not read must not keep the server from being cancelled.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

from ragforge.mcp.protocol import MAX_LINE

CLOSING_SECONDS = 5.0
_PIECE = 1 << 16


def take_streams() -> tuple[int, int]:
    """Return standard input and output for messages.

    Other code that reads gets nothing, and what it prints goes to standard error, so that neither
    mixes with the messages.
    """
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(nothing, 1)
    os.close(nothing)
    return incoming, outgoing


class LineSplitter:
    """Splits the input into lines; None means a line that is too long to keep."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._skips = False  # the rest of a line that was too long

    def split(self, piece: bytes) -> Iterator[bytes | None]:
        """Yield the lines that a piece completes."""
        *ended, last = piece.split(b"\n")
        for part in ended:
            yield from self._add(part)
            if not self._skips:
                yield bytes(self._rest)
            self._rest, self._skips = bytearray(), False
        yield from self._add(last)

    def finish(self) -> Iterator[bytes]:
        """Yield the last line, if it has no end."""
        if self._rest and not self._skips:
            yield bytes(self._rest)

    def _add(self, part: bytes) -> Iterator[None]:
        if self._skips:
            return
        self._rest += part
        if len(self._rest) > self._limit:
            self._rest, self._skips = bytearray(), True
            yield None


async def read_lines(file: int) -> AsyncIterator[bytes | None]:
    """Yield the lines of a file until it ends; None for one that is too long."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | EOFError | None] = asyncio.Queue()

    def put(line: bytes | EOFError | None) -> None:
        loop.call_soon_threadsafe(lines.put_nowait, line)

    def read() -> None:
        splitter = LineSplitter()
        with suppress(RuntimeError):  # the loop is closed: the line is not needed
            with suppress(OSError):
                while piece := os.read(file, _PIECE):
                    for line in splitter.split(piece):
                        put(line)
            for line in splitter.finish():
                put(line)
            put(EOFError())

    Thread(target=read, daemon=True).start()
    while not isinstance(line := await lines.get(), EOFError):
        yield line


class Output:
    """Writes messages one after the other; calls `on_broken` once the reader is gone."""

    def __init__(self, file: int, on_broken: Callable[[], object]) -> None:
        self._file = file
        self._on_broken = on_broken
        self._messages: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread = Thread(target=self._write, daemon=True)
        self._thread.start()

    def send(self, message: bytes) -> None:
        self._messages.put(message)

    def close(self) -> None:
        """Write what was sent; a client that does not read is not waited for."""
        self._messages.put(None)
        self._thread.join(CLOSING_SECONDS)

    def _write(self) -> None:
        try:
            while (message := self._messages.get()) is not None:
                left = memoryview(message)
                while left:
                    left = left[os.write(self._file, left) :]
        except OSError:
            self._on_broken()
