"""run_command and command_output: command lines for a model, with permission or read-only."""

from __future__ import annotations

import asyncio
import os
import re
from asyncio.subprocess import STDOUT
from contextlib import suppress
from functools import partial

from pydantic import Field

from ragforge.domain.text import Json, split_words
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools.command.approved import ApprovedCommands, OnOutput
from ragforge.tools.command.background import BackgroundCommand, BackgroundCommands
from ragforge.tools.command.decide import decide
from ragforge.tools.command.plan import Allowed
from ragforge.tools.command.run import CommandResult, CommandRunner
from ragforge.tools.confine import Root
from ragforge.tools.permission import PermissionRequest, Permit
from ragforge.tools.tool import Arguments, as_tool

PROMPTS = "ragforge.tools.command.prompts"
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
    call = partial(read_output, commands)
    return as_tool("command_output", OutputArguments, call, prompts=PROMPTS)


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


# Whatever follows these words, they do their own work, or run the project's own code. A program
# that runs whatever its arguments name (`timeout`, `python`, `uv run`, `make`, …) is not here, nor
# is one with an option for that (`go test -exec`, `git fetch --upload-pack`).
_PROGRAMS = split_words(
    "pytest ruff mypy pyright black isort flake8 pylint tsc eslint prettier jest vitest gofmt "
    "rustfmt touch mkdir"
)
_VERBS = {
    "git": split_words("add branch checkout commit mv reset restore rm stash switch tag"),
    "npm": split_words("ci test"),
    "pnpm": split_words("test"),
    "yarn": split_words("test"),
    "cargo": split_words("build check clippy doc fmt test"),
    "uv": split_words("lock sync"),
    "go": split_words("fmt"),
}
_WORD = re.compile(r"[\w./:@%+=-]+")


class AgentCommandArguments(Arguments):
    """What run_command is called with."""

    command: str = Field(min_length=1, max_length=100_000, description="The command line")
    cwd: str | None = Field(None, description="A directory of the project; its root if missing")
    timeout: float | None = Field(None, gt=0, description="Seconds; 120 if missing")
    modifies_files: bool = Field(
        False, description="Whether it changes files; the user is asked, whatever the line is"
    )
    network: bool = Field(False, description="Whether it needs the network; the user is asked")
    background: bool = Field(
        False, description="Start it and return at once; command_output reads what it prints"
    )


def make_command_tool(
    runner: CommandRunner,
    approved: ApprovedCommands,
    permit: Permit,
    background: BackgroundCommands,
    on_output: OnOutput | None = None,
) -> Tool:
    """Return run_command for a model that may ask the user.

    `on_output` receives what a command that was allowed prints, as it comes.
    """

    async def call(given: AgentCommandArguments) -> CommandResult | CommandState:
        return await run_command(runner, approved, permit, given, background, on_output)

    return as_tool(
        "run_command",
        AgentCommandArguments,
        call,
        prompts=PROMPTS,
        prompt_name="run_with_permission",
        modifies_files=True,  # it may: so it does not run together with other calls
    )


async def run_command(
    runner: CommandRunner,
    approved: ApprovedCommands,
    permit: Permit,
    given: AgentCommandArguments,
    background: BackgroundCommands,
    on_output: OnOutput | None = None,
) -> CommandResult | CommandState:
    """Run a line: at once if it only reads, else if the user allows it.

    In the background every line needs permission: it runs unattended. So does one that is said
    to modify files.
    Raises OutsideProject for a directory outside the project, InputError if it is missing,
    Declined.
    """
    root = Root.at(runner.root)
    cwd = root.full(root.inside(given.cwd or ""))
    if not await asyncio.to_thread(os.path.isdir, cwd):  # before the user is asked for nothing
        raise InputError(f"There is no directory {given.cwd!r}. Omit cwd to use the project root.")
    if os.name == "posix" and not given.background and not given.modifies_files:
        decision = await asyncio.to_thread(decide, given.command, root.path, given.cwd)
        if isinstance(decision, Allowed):
            return await runner.run(given.command, given.cwd, given.timeout)
    line = given.command.strip()
    notes = [] if cwd == root.path else [f"in {root.inside(cwd)}"]
    notes += ["in the background"] if given.background else []
    notes += ["with network"] if given.network else []
    missing = await asyncio.to_thread(approved.describe_sandbox)
    notes += [missing] if missing else []
    where = f"({'; '.join(notes)}) " if notes else ""
    # The network is asked for each time: a lasting permission does not cover it.
    always = () if given.network else list_lasting_patterns(line)
    confined = await asyncio.to_thread(approved.can_confine, line)
    request = PermissionRequest(
        "run_command", line, f"{where}$ {line}", always, given.network, confined
    )
    is_confined = await permit(request) == "mode"
    if given.background:
        started = background.start(
            line,
            lambda warn: approved.open(
                line, cwd, given.network, STDOUT, confined=is_confined, on_warning=warn
            ),
        )
        return CommandState.of(started)
    return await approved.run(
        line, cwd, given.timeout, given.network, on_output, confined=is_confined
    )


def list_lasting_patterns(line: str) -> tuple[str, ...]:
    """Return what a permanent yes could be for: this very line, then all that begin like it.

    The second is only offered for programs of a list: what others would run cannot be foreseen.
    """
    words = line.split(" ")
    if not all(_WORD.fullmatch(word) for word in words):
        return (line,)
    if words[0] in _PROGRAMS:
        return (line, f"{words[0]} *")
    if len(words) > 1 and words[1] in _VERBS.get(words[0], ()):
        return (line, f"{words[0]} {words[1]} *")
    return (line,)


class ReadOnlyCommandArguments(Arguments):
    """What run_command is called with."""

    command: str = Field(description="The command line")
    cwd: str | None = Field(None, description="A directory of the project; its root if missing")
    timeout: float | None = Field(None, gt=0, description="Seconds")
    modifies_files: bool = Field(False, description="Whether the command changes files")


def make_read_only_command_tool(runner: CommandRunner) -> Tool:
    """Return run_command for a model; a refused line returns a result with the reason."""

    async def call(given: ReadOnlyCommandArguments) -> CommandResult:
        return await runner.run(given.command, given.cwd, given.timeout, given.modifies_files)

    return as_tool("run_command", ReadOnlyCommandArguments, call, prompts=PROMPTS)
