"""User commands: prompt files behind `/`, and shell lines behind `!`."""

from __future__ import annotations

import asyncio
import os
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.domain.text import shorten
from ragforge.errors import InputError
from ragforge.memory.record import Recorder
from ragforge.processes import get_exit_code, open_process
from ragforge.tools.command.background import KeptOutput
from ragforge.tools.command.run import CommandResult
from ragforge.tools.prompt_files import PromptFile, expand_arguments

__all__ = ["PromptFile", "expand_arguments"]

# For the doors, from the rooms below.

SIGN = "!"
"""The first character of a shell line, in the terminal and in the conversation."""
STORED_CHARS = 16_000
"""The output is shortened to this, keeping its beginning and end."""


async def run_user_command(
    recorder: Recorder, conversation_id: str, cwd: Path, line: str, on_output: Callable[[str], None]
) -> CommandResult:
    """Run a line in the user's shell, and store it with its output as a separate turn.

    It is stored as a call with a result: what programs print is data for the model, and the next
    request holds it. One that is interrupted is stored as far as it went.
    Raises InputError if there is no line, or it cannot be started.
    """
    line = line.strip()
    if not line:
        raise InputError("Write a command after the !, such as !git status")
    command = UserCommand(line, cwd, on_output)
    try:
        result = await command.run()
    except asyncio.CancelledError:
        await _store(recorder, conversation_id, line, command.result, "The user ended it.")
        raise
    outcome = f"It ended with exit code {result.exit_code}."
    await _store(recorder, conversation_id, line, result, outcome)
    return result


async def _store(
    recorder: Recorder, conversation_id: str, line: str, result: CommandResult, outcome: str
) -> None:
    from ragforge.memory.secrets.redact import redact  # its patterns take a while to compile

    # Redact before cutting: half of a secret is not recognised.
    kept = replace(result, stdout=shorten(redact(result.stdout), STORED_CHARS))
    call = ToolCall(
        "run_command",
        {"command": line},
        ToolResult(True, kept.to_json()),
        duration_ms=result.duration_ms,
    )
    said = (
        Message("user", f"{SIGN}{line}"),
        Message("assistant", "", tool_calls=(call,)),
        Message("assistant", outcome),
    )
    await recorder.store_turn(conversation_id, said)


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
