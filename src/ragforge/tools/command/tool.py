"""The tool `run_command`: read-only commands for a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragforge.domain.chat import ToolSpec
from ragforge.domain.text import Json
from ragforge.llm.calls import Tool
from ragforge.llm.prompts import prompt
from ragforge.tools.command.run import CommandResult, CommandRunner


class RunCommand(BaseModel):
    """What a model may say."""

    model_config = ConfigDict(extra="forbid")

    command: str = Field(description="The command line.")
    cwd: str | None = Field(None, description="A directory of the project; its root if missing.")
    timeout: float | None = Field(None, gt=0, description="Seconds.")
    modifies_files: bool = Field(False, description="Whether the command changes files.")


def run_command_tool(runner: CommandRunner) -> Tool:
    """Return the tool for a project; what it refuses comes back as a result with the reason."""

    async def run(arguments: Mapping[str, Json]) -> Json:
        try:
            asked = RunCommand.model_validate(arguments)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            reason = f"{where}: {first['msg']}"
            return as_json(CommandResult(stderr=f"Refused: {reason}.", refused=reason))
        return as_json(
            await runner.run(asked.command, asked.cwd, asked.timeout, asked.modifies_files)
        )

    description = prompt("ragforge.tools.command.prompts", "run_command")
    schema = RunCommand.model_json_schema()
    return Tool(ToolSpec("run_command", description, schema), run)


def as_json(result: CommandResult) -> dict[str, Json]:
    """Return a result as the model gets to see it; `refused` only where it was."""
    values = asdict(result)
    if result.refused is None:
        del values["refused"]
    return values
