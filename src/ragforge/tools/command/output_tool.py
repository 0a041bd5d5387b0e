"""command_output: what a background command has printed, and how it is doing."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from pydantic import Field

from ragforge.domain.text import Json
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools.command.background import BackgroundCommand, BackgroundCommands
from ragforge.tools.tool import Arguments, as_tool

CHARS = 16_000
"""Of the output: what comes last says most."""


class OutputArguments(Arguments):
    """What command_output is called with."""

    id: int = Field(ge=1, description="The number that run_command gave")
    wait: float = Field(
        0, ge=0, le=60, description="Seconds to wait for further output or its end, if it runs"
    )
    stop: bool = Field(False, description="Whether to end the command")


@dataclass(frozen=True, slots=True)
class CommandState:
    """A background command as it is now."""

    id: int
    command: str
    running: bool
    exit_code: int | None
    duration_ms: int
    output: str
    problem: str | None = None

    @classmethod
    def of(cls, command: BackgroundCommand) -> CommandState:
        text = command.output.text()
        return cls(
            command.id,
            command.line,
            command.is_running,
            command.exit_code,
            command.duration_ms,
            text if len(text) <= CHARS else f"[…]{text[-CHARS:]}",
            command.problem,
        )

    def to_json(self) -> Json:
        facts: dict[str, Json] = {
            "id": self.id,
            "command": self.command,
            "running": self.running,
            "duration_ms": self.duration_ms,
            "output": self.output,
        }
        if not self.running:
            facts["exit_code"] = self.exit_code
        if self.problem is not None:
            facts["problem"] = self.problem
        return facts


def make_output_tool(commands: BackgroundCommands) -> Tool:
    """Return command_output for a model."""

    async def call(given: OutputArguments) -> CommandState:
        return await read_output(commands, given)

    prompts = "ragforge.tools.command.prompts"
    return as_tool("command_output", OutputArguments, call, prompts=prompts)


async def read_output(commands: BackgroundCommands, given: OutputArguments) -> CommandState:
    """Return the state of a background command. Raises InputError if there is none."""
    command = commands.get(given.id)
    if given.stop:
        await commands.stop(given.id)
    elif given.wait and command.is_running:
        with suppress(TimeoutError):
            async with asyncio.timeout(given.wait):
                await command.grew.wait()
    command.grew.clear()
    return CommandState.of(command)
