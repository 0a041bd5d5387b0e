"""Changes: what became of the code that a memory mentions or a conversation touched.

Code that was only found by a search is ignored: there may be hundreds of such places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from ragforge.domain.code import (
    FOUND,
    CodeLinks,
    FileFilter,
    Project,
    ProjectFilter,
    Scope,
    ScopeFilter,
    ScopeName,
    Touch,
    group_by_name,
    is_file_target,
)
from ragforge.domain.hits import MemoryHit
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import FILE, PROJECT, SCOPE, SCOPE_NAME
from ragforge.ports.store import Records, Store
from ragforge.records import dataclass

StaleKind: TypeAlias = Literal["changed since", "gone"]


ChangeKind: TypeAlias = Literal["unchanged", "changed", "moved", "gone"]
MAX_LOGS = 20
"""How many pieces of code are looked up in git; for the others, only hashes are compared."""


@dataclass(frozen=True, slots=True)
class StaleCode:
    """Code that has changed, or is gone, since it was mentioned."""

    file: str
    name: str | None  # of the scope; None: the file itself
    fate: StaleKind

    def __str__(self) -> str:
        what = self.file if self.name is None else f"{self.name} ({self.file})"
        return f"{what}: {self.fate}"


async def find_all_stale(
    store: Store, place: ProjectPlace, hits: Sequence[MemoryHit]
) -> list[list[StaleCode]]:
    """Return for each hit its code that has changed; what all of them mention is read at once."""
    return await find_stale_of(store, place, [_list_owners(hit) for hit in hits])


def _list_owners(hit: MemoryHit) -> list[str]:
    """Return the ids of what may be linked to code: a summary, or the messages of a turn."""
    if hit.type == "summary":
        return [hit.summary.uuid]
    return [message.uuid for message in (hit.turn.user, *hit.turn.replies)]


async def find_stale_of(
    store: Store, place: ProjectPlace, owners: Sequence[Sequence[str]]
) -> list[list[StaleCode]]:
    """Return the changed code of several groups of messages and summaries, given by their ids."""
    ids = [owner for group in owners for owner in group]
    linked = await store.timeline.links(ids) if ids else {}
    if not linked:
        return [[] for _ in owners]  # memories that mention no code: the usual case
    groups = [[linked[owner] for owner in group if owner in linked] for group in owners]
    mentioned = [
        CodeLinks(
            [reference for links in group for reference in links.references],
            [file for links in group for file in links.files],
        )
        for group in groups
    ]
    return await _compare_all(store, place, mentioned)


async def _compare_all(
    store: Store, place: ProjectPlace, mentioned: Sequence[CodeLinks]
) -> list[list[StaleCode]]:
    """Return the changed code of each; what the code is now is read once for all."""
    paths = {file.path for one in mentioned for file in one.files}
    touched = [r for one in mentioned for r in one.references if r.how != FOUND]
    paths |= {r.file for r in touched if is_file_target(r.scope_id, r.file)}
    if not paths and not touched:
        return [[] for _ in mentioned]
    files = sorted(paths.union(r.file for r in touched))
    checkout = place.checkout_id
    marks = await store.code.file_marks(checkout, files)
    if not marks:  # all of it is gone, or it is known from another checkout
        project = await find_checkout(store.records, place)
        if project is None:
            return [[] for _ in mentioned]  # the whole project was removed, so nothing is known
        checkout = project.uuid
        marks = await store.code.file_marks(checkout, files)
    hashes = {path: mark.hash for path, mark in marks.items()}
    wanted = dict.fromkeys((r.scope_id, r.file, r.qualified_name) for r in touched)
    scopes = await find_scopes(store.records, checkout, list(wanted)) if wanted else {}
    hashes |= {known: scope.hash for known, scope in scopes.items()}
    return [_list_stale(one, hashes) for one in mentioned]


def _list_stale(mentioned: CodeLinks, hashes: Mapping[str, str]) -> list[StaleCode]:
    now: list[tuple[str, str | None, StaleKind | None]] = [
        (one.path, None, _compare_hashes(one.hash, hashes.get(one.path))) for one in mentioned.files
    ]
    touched = [r for r in mentioned.references if r.how != FOUND]
    now += [
        (r.file, None, _compare_hashes(r.hash, hashes.get(r.file)))
        if is_file_target(r.scope_id, r.file)
        else (r.file, r.qualified_name, _compare_hashes(r.hash, hashes.get(r.scope_id)))
        for r in touched
    ]
    return list(dict.fromkeys(StaleCode(file, name, fate) for file, name, fate in now if fate))


def _compare_hashes(then: str, now: str | None) -> StaleKind | None:
    if now is None:
        return "gone"
    return None if now == then else "changed since"


async def find_checkout(records: Records, place: ProjectPlace) -> Project | None:
    """Return the ingested checkout at a place, or else another one of its project, or None."""

    def rate(one: Project) -> tuple[bool, bool, bool]:
        is_there = one.path == place.path
        return (
            one.uuid != place.checkout_id,
            not (is_there and one.host == place.host),
            not is_there,
        )

    found = await records.find(PROJECT, ProjectFilter(place.ids))
    return min(found, key=rate, default=None)


async def find_scopes(
    records: Records, checkout_id: str, wanted: Iterable[tuple[str, str, str]]
) -> Mapping[str, Scope]:
    """Return the current scopes of a checkout by the ids, files and names they were known by."""
    wanted = list(wanted)
    files = list(dict.fromkeys(file for _, file, _ in wanted))
    names = await records.find(SCOPE_NAME, ScopeFilter(checkout_id, files)) if files else []
    here = {name.uuid for name in names}
    by_name = {(name.file, name.qualified_name): name.uuid for name in reversed(names)}
    now = {
        known: known if known in here else by_name[file, name]
        for known, file, name in wanted
        if known in here or (file, name) in by_name
    }
    scopes = await records.get_many(SCOPE, list(dict.fromkeys(now.values())))
    return {known: scopes[uuid] for known, uuid in now.items() if uuid in scopes}


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
        """Return the commits that changed lines of a file, newest first; None without git."""

    async def list_file_commits(
        self, file: str, name: str | None, since: datetime
    ) -> Sequence[Commit] | None:
        """Return the commits that changed a file, or that wrote or removed a name in it."""


@dataclass(frozen=True, slots=True)
class CodeState:
    """The current state of code that was touched."""

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
    """Finds the current state of code; looks up each piece once."""

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
