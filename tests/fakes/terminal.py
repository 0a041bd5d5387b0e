"""A terminal: a program on a real pseudo-terminal, and the screen that a person would see."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pexpect
import pyte

ENTER = "\r"
ALT_ENTER = "\x1b\r"
CTRL_C = "\x03"
CTRL_D = "\x04"
CTRL_J = "\n"
CTRL_O = "\x0f"
ESCAPE = "\x1b"
DOWN = "\x1b[B"
UP = "\x1b[A"
TAB = "\t"
PATIENCE = 120.0
HISTORY = 10_000


class Terminal:
    """Runs `ragforge` as a person does: types, waits for words on the screen, looks at it."""

    def __init__(
        self,
        arguments: list[str],
        environ: Mapping[str, str],
        cwd: Path,
        rows: int = 30,
        columns: int = 100,
    ) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=HISTORY, ratio=0.5)
        self.screen.write_process_input = self._reply
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "ragforge", *arguments],
            env=dict(environ),
            cwd=str(cwd),
            dimensions=(rows, columns),
            timeout=PATIENCE,
        )
        self.child.delaybeforesend = None

    async def __aenter__(self) -> Terminal:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.child.close, True)

    @property
    def lines(self) -> list[str]:
        """What is on the screen, without empty lines at its end."""
        shown = [line.rstrip() for line in self.screen.display]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    @property
    def scrollback(self) -> str:
        """All that was printed and can be scrolled back to, with what is on the screen."""
        above = ["".join(row[x].data for x in range(self.screen.columns)) for row in self._above()]
        return "\n".join([*(line.rstrip() for line in above), *self.lines])

    def _above(self) -> list[Mapping[int, pyte.screens.Char]]:
        return list(self.screen.history.top)

    def type(self, text: str) -> None:
        self.child.send(text)

    def paste(self, text: str) -> None:
        """Paste as a terminal does that knows bracketed paste."""
        self.child.send(f"\x1b[200~{text}\x1b[201~")

    def resize(self, rows: int, columns: int) -> None:
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    async def see(self, text: str, count: int = 1) -> None:
        """Wait until a text is on the screen or above it."""
        await self.until(lambda: self.scrollback.count(text) >= count, f"{text!r}")

    async def on_screen(self, text: str) -> None:
        """Wait until a text is on the screen itself."""
        await self.until(lambda: text in "\n".join(self.lines), f"{text!r}")

    async def gone(self, text: str) -> None:
        """Wait until a text is on the screen no more."""
        await self.until(lambda: text not in "\n".join(self.lines), f"no {text!r}")

    async def prompt(self, sign: str = "❯") -> None:
        """Wait until the terminal asks for input: the prompt is below all else."""

        def is_asking() -> bool:
            row = self.screen.display[self.screen.cursor.y].rstrip()
            return not self.screen.cursor.hidden and re.fullmatch(rf"{sign}", row) is not None

        await self.until(is_asking, "the prompt")

    async def until(self, is_true: Callable[[], bool], what: str) -> None:
        ends = time.monotonic() + PATIENCE
        while True:
            alive = self.read()
            if is_true():
                return
            if not alive or time.monotonic() > ends:
                state = "the time is up" if alive else "the program has ended"
                shown = "\n".join(self.scrollback.split("\n")[-60:])
                raise AssertionError(f"waited for {what}, but {state}. The screen:\n{shown}")
            await asyncio.sleep(0.02)

    def read(self) -> bool:
        """Take what the program wrote; return whether it still runs."""
        try:
            while True:
                data = self.child.read_nonblocking(65536, timeout=0)
                self.raw += data
                self._stream.feed(data)
        except pexpect.TIMEOUT:
            return True
        except (pexpect.EOF, OSError):
            return False

    async def ended(self) -> int:
        """Wait for the end of the program; return its exit code."""
        while self.read():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await asyncio.to_thread(self.child.wait)
        return int(self.child.exitstatus if self.child.exitstatus is not None else -1)

    def _reply(self, data: str) -> None:
        """Answer what a program asks its terminal, such as where the cursor is."""
        os.write(self.child.child_fd, data.encode())
