"""Tracker: what became of code after a conversation touched it.

The store knows whether it is unchanged and where it is now; git, if there is one, which commits
changed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from ragforge.domain.code import (
    FileFilter,
    Project,
    ScopeFilter,
    ScopeName,
    Touch,
    group_by_name,
    is_file_target,
)
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import FILE, SCOPE_NAME
from ragforge.memory.code.checkouts import find_checkout, find_scopes
from ragforge.ports.store import Store
from ragforge.records import dataclass

ChangeKind: TypeAlias = Literal["unchanged", "changed", "moved", "gone"]
MAX_LOGS = 20
"""How many pieces of code are looked up in git; for the others, only hashes are compared."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit."""

    id: str
    when: datetime
    author: str
    subject: str


class CommitLog(Protocol):
    """The commits of one project."""

    async def list_line_commits(
        self, file: str, first: int, last: int, since: datetime
    ) -> Sequence[Commit] | None:
        """Return the commits that changed lines of the current file, newest first.

        None if there is no git history.
        """

    async def list_file_commits(
        self, file: str, name: str | None, since: datetime
    ) -> Sequence[Commit] | None:
        """Return the commits that changed a file, or that wrote or removed a name in it."""


@dataclass(frozen=True, slots=True)
class CodeState:
    """What became of code that was touched."""

    state: ChangeKind | None  # None: the code of the project is not known
    file: str | None = None  # where it is now
    name: str | None = None
    lines: tuple[int, int] | None = None
    is_same: bool = False  # whether its content is unchanged
    commits: tuple[Commit, ...] | None = None  # None: there is no git history

    def describe(self, touch: Touch) -> str:
        """Return the state in words."""
        if self.state is None:
            return "the code of its project is not known"
        if self.state != "moved":
            return self.state if self.state == "gone" else f"{self.state} since"
        place = f"{self.file}:{self.lines[0]}-{self.lines[1]}" if self.lines else self.file
        done = f"moved to {place}"
        if self.name is not None and self.name != touch.name:
            done = f"renamed to {self.name} ({place})"
        return done if self.is_same else f"{done} and changed"


@dataclass(slots=True)
class CodeTracker:
    """Finds out what became of code; looks up each piece once."""

    store: Store
    log: CommitLog | None = None
    logged_project: str | None = None  # whose history the log is
    _projects: dict[ProjectPlace, Project | None] = field(default_factory=dict)
    _found: dict[tuple[str, str, str], CodeState] = field(default_factory=dict)
    _logs: dict[tuple[str, str, str], tuple[Commit, ...] | None] = field(default_factory=dict)

    async def track(self, touch: Touch, place: ProjectPlace, oldest: datetime) -> CodeState:
        """Return what became of touched code; `oldest` is the time of the first touch of all."""
        project = await self._find_project(place)
        key = (place.path, touch.target_id, touch.hash)
        if key not in self._found:
            self._found[key] = (
                CodeState(None) if project is None else await self._find_scope(touch, project)
            )
        found = self._found[key]
        if self.log is None or place.path != self.logged_project:
            return found
        if key not in self._logs:
            self._logs[key] = await self._list_commits(self.log, touch, found, oldest)
        commits = self._logs[key]
        if commits is None:
            return found
        return replace(found, commits=tuple(one for one in commits if one.when > touch.when))

    async def _find_project(self, place: ProjectPlace) -> Project | None:
        if place not in self._projects:
            self._projects[place] = await find_checkout(self.store.records, place)
        return self._projects[place]

    async def _find_scope(self, touch: Touch, project: Project) -> CodeState:
        if touch.name is None or is_file_target(touch.target_id, touch.file):
            return await self._find_file(touch, project)
        wanted = [(touch.target_id, touch.file, touch.name)]
        known = (await find_scopes(self.store.records, project.uuid, wanted)).get(touch.target_id)
        if known is not None:
            is_same = known.hash == touch.hash
            lines = (known.start_line, known.end_line)
            state: ChangeKind = "unchanged" if is_same else "changed"
            return CodeState(state, known.file, known.qualified_name, lines, is_same)
        find = self.store.records.find
        same = await find(SCOPE_NAME, ScopeFilter(project.uuid, hash=touch.hash))
        if len(same) == 1:
            return _make_moved(same[0], is_same=True)
        # If only one scope has the name now, the code moved there.
        names = (touch.name, touch.name.rpartition(".")[2])
        found = group_by_name(await find(SCOPE_NAME, ScopeFilter(project.uuid, names=names)), names)
        fitting = found.get(names[0]) or found.get(names[1], [])
        return _make_moved(fitting[0], is_same=False) if len(fitting) == 1 else CodeState("gone")

    async def _find_file(self, touch: Touch, project: Project) -> CodeState:
        files = await self.store.records.find(FILE, FileFilter(project.uuid))
        known = next((file for file in files if file.path == touch.file), None)
        if known is not None:
            is_same = known.hash == touch.hash
            return CodeState("unchanged" if is_same else "changed", known.path, is_same=is_same)
        same = [file for file in files if file.hash == touch.hash]
        return (
            CodeState("moved", same[0].path, is_same=True) if len(same) == 1 else CodeState("gone")
        )

    async def _list_commits(
        self, log: CommitLog, touch: Touch, now: CodeState, oldest: datetime
    ) -> tuple[Commit, ...] | None:
        if len(self._logs) >= MAX_LOGS:
            return None
        if now.file is not None and now.lines is not None:
            found = await log.list_line_commits(now.file, *now.lines, oldest)
        else:
            name = None if touch.name is None else touch.name.rpartition(".")[2]
            found = await log.list_file_commits(now.file or touch.file, name, oldest)
        return None if found is None else tuple(found)


def _make_moved(scope: ScopeName, is_same: bool) -> CodeState:
    lines = (scope.start_line, scope.end_line)
    return CodeState("moved", scope.file, scope.qualified_name, lines, is_same)
