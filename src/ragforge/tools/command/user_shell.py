"""User shell: run a command line that the user typed, as their own shell would."""

from __future__ import annotations

import os
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ragforge.errors import InputError
from ragforge.processes import get_exit_code, open_process
from ragforge.tools.command.background import KeptOutput
from ragforge.tools.command.run import CommandResult

GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""
OUTPUT_BYTES = 100_000


@dataclass(slots=True)
class UserCommand:
    """A command that the user typed: no permission, no sandbox, all of their environment.

    It has no input, and no time limit: the user is there to end it. `result` says what it did
    so far, also if it was interrupted.
    """

    line: str
    cwd: Path
    on_output: Callable[[str], None]
    _kept: KeptOutput = field(default_factory=lambda: KeptOutput(OUTPUT_BYTES))
    _start: float = field(default_factory=time.monotonic)
    _exit_code: int | None = None

    async def run(self) -> CommandResult:
        """Run it to its end; if this is cancelled, it is ended with all that it started.

        Raises InputError if it cannot be started.
        """
        try:
            opened = open_process(
                _build_command(self.line),
                GRACE,
                cwd=str(self.cwd),
                env=os.environ,
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
            )
            async with opened as process:
                await self._kept.read_from(process.stdout, self.on_output)
                code = await process.wait()
        except (OSError, ValueError) as error:
            raise InputError(f"The command could not be started: {error}") from error
        self._exit_code = get_exit_code(code)
        return self.result

    @property
    def result(self) -> CommandResult:
        """What it did so far."""
        return CommandResult(
            stdout=self._kept.text(),
            exit_code=self._exit_code,
            duration_ms=round((time.monotonic() - self._start) * 1000),
            truncated=bool(self._kept.lost),
        )


def _build_command(line: str) -> str | list[str]:
    if os.name != "posix":
        return line
    return [os.environ.get("SHELL") or "/bin/sh", "-c", line]
