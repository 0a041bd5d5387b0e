"""git_status, git_diff, git_log, and the history of lines and files: git as a read-only command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from ragforge.domain.instants import format_instant, parse_instant
from ragforge.domain.text import Json
from ragforge.errors import InputError, InvalidTime
from ragforge.llm.calls import Tool
from ragforge.memory.code.changes import Commit
from ragforge.memory.code.traces import follow_line, read_diff
from ragforge.records import dataclass
from ragforge.tools.command.run import CommandResult, CommandRunner
from ragforge.tools.tool import Arguments, as_tool

MAX_COMMITS = 20
SECONDS = 10.0
RECENT_COMMITS = 100
_FORMAT = "--format=%h%x09%cI%x09%an%x09%s"


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
        raise InputError(f"git cannot run this: {result.refused}.")
    if result.timed_out:
        raise InputError("git took too long. Narrow the request.")
    if result.exit_code not in (0, 1):
        raise InputError(f"git failed: {result.stderr.strip() or result.exit_code}")
    return GitOutput(result.stdout or "(nothing)", result.truncated)


@dataclass(slots=True)
class GitHistory:
    """The commits of a project; it has none where there is no repository, or no git."""

    runner: CommandRunner
    _is_there: bool | None = None

    async def list_line_commits(
        self, file: str, first: int, last: int, since: datetime
    ) -> Sequence[Commit] | None:
        if not await self._has_repository():
            return None
        # Lines are known as the files are now; git counts them as they are in the last commit.
        changes = read_diff(await self._run("diff", "-R", "--unified=0", "HEAD", "--", file))
        start, end = follow_line(first, changes), follow_line(last, changes)
        lines = f"-L{start},{max(start, end)}:{file}"
        return await self._list_commits(since, lines, "--no-patch")

    async def list_file_commits(
        self, file: str, name: str | None, since: datetime
    ) -> Sequence[Commit] | None:
        if not await self._has_repository():
            return None
        return await self._list_commits(since, *([f"-S{name}"] if name else []), "--", file)

    async def list_commits(
        self, since: datetime, until: datetime | None, limit: int
    ) -> Sequence[Commit]:
        """Return the commits between two moments, newest first; none without a repository."""
        end = [] if until is None else [f"--until={format_instant(until)}"]
        return await self._list_commits(since, *end, limit=limit)

    async def list_recent_files(self) -> list[str]:
        """Return the files of the newest commits, the last changed first."""
        options = (f"--max-count={RECENT_COMMITS}", "--name-only", "--format=", "--no-renames")
        output = await self._run("log", *options, "--relative")
        return list(dict.fromkeys(filter(None, output.splitlines())))

    async def list_changed_files(self) -> list[str]:
        """Return the files that differ from the last commit, and new ones, by their paths."""
        if not await self._has_repository():
            return []
        changed = await self._run("diff", "--name-only", "--no-renames", "--relative", "HEAD")
        new = await self._run("ls-files", "--others", "--exclude-standard")
        return sorted({*changed.splitlines(), *new.splitlines()})

    async def diff_since(self, file: str, when: datetime) -> str | None:
        """Return how a file differs from its last commit before a moment.

        None if there is no commit that old.
        """
        before = f"--before={format_instant(when)}"
        then = (await self._run("log", "--max-count=1", before, "--format=%H")).strip()
        return await self._run("diff", "--no-renames", then, "--", file) if then else None

    async def _list_commits(
        self, since: datetime, *words: str, limit: int = MAX_COMMITS
    ) -> list[Commit]:
        limits = [f"--since={format_instant(since)}", f"--max-count={limit}"]
        output = await self._run("log", *limits, _FORMAT, *words)
        return [commit for line in output.splitlines() if (commit := _parse_commit(line))]

    async def _has_repository(self) -> bool:
        if self._is_there is None:
            self._is_there = bool(await self._run("log", "--max-count=1", "--format=%h"))
        return self._is_there

    async def _run(self, *words: str) -> str:
        """Return git's output; nothing if it is refused, fails or takes too long."""
        result = await self.runner.run(shlex.join(["git", *words]), timeout=SECONDS)
        if result.refused is not None or result.timed_out or result.exit_code not in (0, 1):
            return ""
        return result.stdout


def _parse_commit(line: str) -> Commit | None:
    parts = line.split("\t", 3)
    if len(parts) != 4:
        return None
    try:
        return Commit(parts[0], parse_instant(parts[1]), parts[2], parts[3])
    except InvalidTime:
        return None
