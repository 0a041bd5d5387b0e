"""git_status, git_diff, git_log: the state and history of the work tree, read-only."""

from __future__ import annotations

import shlex

from pydantic import Field

from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools.command.run import CommandResult, CommandRunner
from ragforge.tools.tool import Arguments, as_tool


class StatusArguments(Arguments):
    """What git_status is called with: nothing."""


class DiffArguments(Arguments):
    """What git_diff is called with."""

    staged: bool = Field(False, description="What is staged, instead of what is not")
    revision: str | None = Field(
        None, min_length=1, max_length=200, description="Compare with it: HEAD~3, main..HEAD"
    )
    path: str | None = Field(None, min_length=1, description="Only this file or directory")


class LogArguments(Arguments):
    """What git_log is called with."""

    limit: int = Field(20, ge=1, le=500, description="How many commits")
    revision: str | None = Field(
        None, min_length=1, max_length=200, description="Where to begin, or a range"
    )
    path: str | None = Field(None, min_length=1, description="Only commits that touch it")
    grep: str | None = Field(None, min_length=1, max_length=200, description="Words of the message")


@dataclass(frozen=True, slots=True)
class GitOutput:
    """The output of git."""

    text: str
    truncated: bool

    def to_json(self) -> Json:
        return {"output": self.text, "truncated": self.truncated}


def make_git_tools(runner: CommandRunner) -> tuple[Tool, ...]:
    """Return the git tools for a model."""

    async def status(given: StatusArguments) -> GitOutput:
        return await _run_git(runner, ["status", "--short", "--branch"])

    async def diff(given: DiffArguments) -> GitOutput:
        words = ["diff", *(["--cached"] if given.staged else []), *_check_revision(given.revision)]
        return await _run_git(runner, [*words, *_build_path_words(given.path)])

    async def log(given: LogArguments) -> GitOutput:
        words = ["log", f"--max-count={given.limit}", "--date=short"]
        words += ["--pretty=format:%h %ad %an: %s"]
        words += [f"--grep={given.grep}"] if given.grep else []
        return await _run_git(
            runner, [*words, *_check_revision(given.revision), *_build_path_words(given.path)]
        )

    return (
        as_tool("git_status", StatusArguments, status),
        as_tool("git_diff", DiffArguments, diff),
        as_tool("git_log", LogArguments, log),
    )


def _check_revision(revision: str | None) -> list[str]:
    if revision is not None and revision.startswith("-"):
        raise InputError(f"{revision!r} is not a revision.")
    return [revision] if revision else []


def _build_path_words(path: str | None) -> list[str]:
    return ["--", path] if path else []


async def _run_git(runner: CommandRunner, words: list[str]) -> GitOutput:
    """Run git like any read-only line: same decider, same neutral configuration."""
    result: CommandResult = await runner.run(shlex.join(["git", *words]))
    if result.refused is not None:
        raise InputError(f"git cannot be asked for this: {result.refused}.")
    if result.timed_out:
        raise InputError("git took too long. Ask for less.")
    if result.exit_code not in (0, 1):
        raise InputError(f"git says: {result.stderr.strip() or result.exit_code}")
    return GitOutput(result.stdout or "(nothing)", result.truncated)
