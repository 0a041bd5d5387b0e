"""The tool `run_command`: read-only commands for a model."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from ragforge.domain.text import Json
from ragforge.llm.calls import Tool
from ragforge.tools.command.run import CommandResult, CommandRunner
from ragforge.tools.tool import Arguments, as_tool

NAME = "run_command"


class ReadOnlyCommandArguments(Arguments):
    """What run_command is called with."""

    command: str = Field(description="The command line")
    cwd: str | None = Field(None, description="A directory of the project; its root if missing")
    timeout: float | None = Field(None, gt=0, description="Seconds")
    modifies_files: bool = Field(False, description="Whether the command changes files")


def make_read_only_command_tool(
    runner: CommandRunner, fixed: Mapping[str, Json] | None = None
) -> Tool:
    """Return run_command for a model; a refused line returns a result with the reason."""

    async def call(given: ReadOnlyCommandArguments) -> CommandResult:
        return await runner.run(given.command, given.cwd, given.timeout, given.modifies_files)

    return as_tool(
        NAME, ReadOnlyCommandArguments, call, fixed=fixed, prompts="ragforge.tools.command.prompts"
    )
