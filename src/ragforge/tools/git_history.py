"""Git history: which commits changed some lines; git runs like any read-only command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ragforge.domain.instants import format_instant, parse_instant
from ragforge.errors import InvalidTime
from ragforge.memory.code.changes import Commit
from ragforge.memory.code.traces import follow_line, read_diff
from ragforge.tools.command.run import CommandRunner

MAX_COMMITS = 20
SECONDS = 10.0
RECENT_COMMITS = 100
_FORMAT = "--format=%h%x09%cI%x09%an%x09%s"


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
        return await self._list_commits(since, *end, most=limit)

    async def list_recent_files(self) -> list[str]:
        """Return the files of the newest commits, the last changed first."""
        options = (f"--max-count={RECENT_COMMITS}", "--name-only", "--format=", "--no-renames")
        output = await self._run("log", *options, "--relative")
        return list(dict.fromkeys(filter(None, output.splitlines())))

    async def diff_since(self, file: str, when: datetime) -> str | None:
        """Return how a file differs from its last commit before a moment.

        None if there is no commit that old.
        """
        before = f"--before={format_instant(when)}"
        then = (await self._run("log", "--max-count=1", before, "--format=%H")).strip()
        return await self._run("diff", "--no-renames", then, "--", file) if then else None

    async def _list_commits(
        self, since: datetime, *words: str, most: int = MAX_COMMITS
    ) -> list[Commit]:
        limits = [f"--since={format_instant(since)}", f"--max-count={most}"]
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
