"""User commands: prompt files behind `/`, and shell lines behind `!`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.domain.text import shorten
from ragforge.errors import InputError
from ragforge.memory.record import Recorder
from ragforge.tools.command.run import CommandResult
from ragforge.tools.command.user_shell import UserCommand
from ragforge.tools.prompt_files import PromptFile, expand_arguments

# For the doors, from the rooms below.
__all__ = ["PromptFile", "expand_arguments"]

SIGN = "!"
"""The first character of a shell line, in the terminal and in the conversation."""
STORED_CHARS = 16_000
"""The output is shortened to this, keeping its beginning and end."""


async def run_user_command(
    recorder: Recorder,
    conversation_id: str,
    cwd: Path,
    line: str,
    on_output: Callable[[str], None],
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
