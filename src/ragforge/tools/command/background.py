"""Background: commands that run while the agent does something else."""

from __future__ import annotations

import asyncio
import time
from asyncio.subprocess import Process
from codecs import getincrementaldecoder
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import TypeAlias

from ragforge.errors import InputError
from ragforge.processes import get_exit_code
from ragforge.records import dataclass


@dataclass(slots=True)
class KeptOutput:
    """The beginning and the end of a stream."""

    limit: int
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    size: int = 0

    def add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = self.limit // 2 - len(self.head)
        self.head += chunk[: max(room, 0)]
        self.tail += chunk[max(room, 0) :]
        del self.tail[: -self.limit // 2]

    async def read_from(
        self, stream: asyncio.StreamReader | None, on_output: Callable[[str], None] | None = None
    ) -> None:
        """Read a stream to its end; `on_output` receives its text as it comes."""
        assert stream is not None
        decoder = getincrementaldecoder("utf-8")("replace")  # a letter may come in two pieces
        while chunk := await stream.read(READ_BYTES):
            self.add(chunk)
            if on_output is not None and (text := decoder.decode(chunk)):
                on_output(text)

    @property
    def lost(self) -> int:
        return self.size - len(self.head) - len(self.tail)

    def text(self) -> str:
        gap = f"\n[… {self.lost:,} bytes …]\n" if self.lost else ""
        return self.head.decode(errors="replace") + gap + self.tail.decode(errors="replace")


OUTPUT_BYTES = 200_000
READ_BYTES = 65_536
MAX_RUNNING = 20

Open: TypeAlias = Callable[[Callable[[str], None]], AbstractAsyncContextManager[Process]]
"""Starts a command; the function that it is given receives warnings, when the command has ended."""


@dataclass(slots=True)
class BackgroundCommand:
    """A command that was started, with what it printed; `exit_code` is None while it runs."""

    id: int
    line: str
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    exit_code: int | None = None
    problem: str | None = None  # why it could not be started, or that it was ended
    output: KeptOutput = field(default_factory=lambda: KeptOutput(OUTPUT_BYTES))
    grew: asyncio.Event = field(default_factory=asyncio.Event)  # since it was last read

    @property
    def is_running(self) -> bool:
        return self.ended is None

    @property
    def duration_ms(self) -> int:
        return round(((self.ended or time.monotonic()) - self.started) * 1000)


class BackgroundCommands:
    """The background commands of one application. They end with it."""

    def __init__(self) -> None:
        self._commands: dict[int, BackgroundCommand] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def all(self) -> list[BackgroundCommand]:
        """Return the commands, in the order in which they were started."""
        return list(self._commands.values())

    def count_running(self) -> int:
        return sum(command.is_running for command in self._commands.values())

    def get(self, id: int) -> BackgroundCommand:
        """Return a command. Raises InputError if no command has this number."""
        if id not in self._commands:
            known = ", ".join(map(str, self._commands)) or "none"
            raise InputError(f"There is no background command {id}. There are: {known}.")
        return self._commands[id]

    def start(self, line: str, open_command: Open) -> BackgroundCommand:
        """Start a command. Raises InputError if too many are running."""
        if self.count_running() >= MAX_RUNNING:
            raise InputError(f"{MAX_RUNNING} background commands are running. End one first.")
        command = BackgroundCommand(len(self._commands) + 1, line)
        self._commands[command.id] = command
        self._tasks[command.id] = asyncio.create_task(_follow(command, open_command))
        return command

    async def stop(self, id: int) -> BackgroundCommand:
        """End a command with all that it started. Raises InputError if there is none."""
        command = self.get(id)
        await self._end(self._tasks[id])
        return command

    async def close(self) -> None:
        """End all of them."""
        await self._end(*self._tasks.values())

    async def _end(self, *tasks: asyncio.Task[None]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _follow(command: BackgroundCommand, open_command: Open) -> None:
    """Read what a command prints until it ends."""
    from ragforge.tools.command.plan import NotAllowed  # most terminals run none

    try:
        async with open_command(lambda text: command.output.add(text.encode())) as process:
            await command.output.read_from(process.stdout, lambda _: command.grew.set())
            command.exit_code = get_exit_code(await process.wait())
    except asyncio.CancelledError:
        command.problem = "It was stopped."
        raise
    except (OSError, ValueError, NotAllowed) as error:
        command.problem = f"The command could not be started: {error}"
    finally:
        command.ended = time.monotonic()
        command.grew.set()
