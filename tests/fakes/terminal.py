"""A terminal: a program on a real pseudo-terminal, and the screen that a person would see."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

from tests.fakes.zygote import Forked, fork

ENTER = "\r"
ALT_ENTER = "\x1b\r"
BACKSPACE = "\x7f"
CTRL_C = "\x03"
CTRL_D = "\x04"
CTRL_J = "\n"
CTRL_O = "\x0f"
ESCAPE = "\x1b"
DOWN = "\x1b[B"
UP = "\x1b[A"
TAB = "\t"

PATIENCE = float(os.environ.get("RAGFORGE_TEST_PATIENCE", "120"))  # seconds
HISTORY = 10_000
BOLD = "bold"
# The terminal must be the one that Ctrl-C on it interrupts.
OWN_TERMINAL = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); "  # the parent process may ignore it
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


class Terminal:
    """Runs Python as a person does: types, waits for words on the screen, looks at it."""

    def __init__(
        self,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        cwd: Path,
        rows: int = 30,
        columns: int = 100,
        forked: bool = False,
    ) -> None:
        """Start `python ARGUMENTS`; forked, `python -m` of one that has imported RagForge."""
        self.screen = pyte.HistoryScreen(columns, rows, history=HISTORY, ratio=0.5)
        self.screen.write_process_input = self.type
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._master, slave = pty.openpty()
        self._set_size(rows, columns)
        self.process: subprocess.Popen[bytes] | Forked
        if forked:
            words = arguments[1:]
            self.process = fork("tests.fakes.own_terminal", words, [slave] * 3, cwd, environ)
        else:
            self.process = subprocess.Popen(
                [sys.executable, "-c", OWN_TERMINAL, *arguments],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                cwd=cwd,
                env=dict(environ),
                start_new_session=True,
            )
        self._slave = slave  # kept open: a terminal that no process holds loses its settings
        os.set_blocking(self._master, False)

    async def __aenter__(self) -> Terminal:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        await asyncio.to_thread(self.process.wait)
        os.close(self._slave)
        os.close(self._master)

    @property
    def lines(self) -> list[str]:
        """What is on the screen, without empty lines at its end."""
        shown = [line.rstrip() for line in self.screen.display]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    @property
    def scrollback(self) -> list[str]:
        """All that was printed and can be scrolled back to, and what is on the screen."""
        above: list[Any] = list(self.screen.history.top)
        columns = range(self.screen.columns)
        return [*("".join(row[x].data for x in columns).rstrip() for row in above), *self.lines]

    def style_of(self, text: str) -> Any:
        """Return how the first letter of a text on the screen looks."""
        row = next(y for y, line in enumerate(self.screen.display) if text in line)
        return self.screen.buffer[row][self.screen.display[row].index(text)]

    def type(self, text: str) -> None:
        data = text.encode()
        while data:
            try:
                data = data[os.write(self._master, data) :]
            except BlockingIOError:
                self.read()
                time.sleep(0.01)

    def paste(self, text: str) -> None:
        """Paste as a terminal does that knows bracketed paste."""
        self.type(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int) -> None:
        """Make the window narrower or wider; pyte loses its place when the height changes."""
        self.read()
        if columns < self.screen.columns:
            self._wrap_lines(columns)
        self.screen.resize(self.screen.lines, columns)
        self._set_size(self.screen.lines, columns)

    def _wrap_lines(self, columns: int) -> None:
        """Wrap lines that no longer fit, as most terminals do; pyte would cut them off."""
        screen, rows, cursor = self.screen, [], 0
        for y in range(screen.cursor.y + 1):
            line = screen.buffer[y]
            text = screen.display[y].rstrip()
            end = max(len(text), 1)
            for start in range(0, end, columns):
                row = screen.buffer.default_factory()
                row.update({x - start: line[x] for x in range(start, min(start + columns, end))})
                rows.append(row)
            if y == screen.cursor.y:
                cursor = len(rows) - 1 - (end - 1) // columns + screen.cursor.x // columns
        below = [screen.buffer[y] for y in range(screen.cursor.y + 1, screen.lines)]
        above = max(cursor + 1 - screen.lines, 0)
        screen.history.top.extend(rows[:above])
        shown = [*rows, *below][above : above + screen.lines]
        screen.buffer.clear()
        screen.buffer.update(enumerate(shown))
        screen.cursor.y, screen.cursor.x = cursor - above, screen.cursor.x % columns

    def attributes(self) -> list[Any]:
        """Return the settings of the terminal: whether it shows what is typed, and so on."""
        return termios.tcgetattr(self._slave)

    def _set_size(self, rows: int, columns: int) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    async def see(self, text: str, times: int = 1) -> None:
        """Wait until a text is on the screen or above it."""
        await self.until(lambda: "\n".join(self.scrollback).count(text) >= times, repr(text))

    async def on_screen(self, text: str) -> None:
        """Wait until a text is on the screen itself."""
        await self.until(lambda: text in "\n".join(self.lines), repr(text))

    async def gone(self, text: str) -> None:
        """Wait until a text is no longer on the screen."""
        await self.until(lambda: text not in "\n".join(self.lines), f"no {text!r}")

    async def prompt(self, sign: str = "❯") -> None:
        """Wait until the terminal asks for input."""

        def is_asking() -> bool:
            row = self.screen.display[self.screen.cursor.y].rstrip()
            return not self.screen.cursor.hidden and re.fullmatch(sign, row) is not None

        await self.until(is_asking, "the prompt")

    async def until(self, is_true: Callable[[], bool], what: str) -> None:
        ends = time.monotonic() + PATIENCE
        while True:
            alive = self.read()
            if is_true():
                return
            if not alive or time.monotonic() > ends:
                state = "the time is up" if alive else "the program has ended"
                shown = "\n".join(self.scrollback[-60:])
                raise AssertionError(f"Waited for {what}, but {state}. The screen:\n{shown}")
            await asyncio.sleep(0.02)

    def read(self) -> bool:
        """Take what the program wrote; return whether more can come."""
        runs = self.process.poll() is None  # looked at first: its last words come before
        while True:
            try:
                data = os.read(self._master, 65536)
            except BlockingIOError:
                return runs
            self.raw += data
            self._stream.feed(data)

    async def ended(self) -> int:
        """Wait for the end of the program; return its exit code."""
        await self.until(lambda: not self.read(), "the end")
        return int(await asyncio.to_thread(self.process.wait, PATIENCE))
