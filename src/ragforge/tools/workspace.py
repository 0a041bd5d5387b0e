"""Workspace: one project as all tools see it: its root, its files, and how long a call may take.

The files are those that the brain's walk finds, kept between calls. A directory whose time has not
changed holds the same names. So a call checks the times of the directories, which takes a tenth of
a walk, and lists only those that changed.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from ragforge.brain.files.exclusions import FileLimits, SkipReason
from ragforge.brain.files.ignore import IGNORE_FILES, IgnoreRules, read_rules_above
from ragforge.brain.files.walk import DirectoryContents, is_gone, read_directory, walk_directories
from ragforge.errors import InputError
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.globs import compile_glob, is_wild
from ragforge.tools.ripgrep import find_ripgrep

T = TypeVar("T")

SECONDS = 15.0
"""How long a tool may take unless its caller says otherwise."""


class Deadline:
    """A point in time; cancelling the caller moves it to now."""

    def __init__(self, seconds: float) -> None:
        self.begun = time.monotonic()
        self._at = self.begun + seconds

    @property
    def left(self) -> float:
        """How many seconds are left, never less than none."""
        return max(0.0, self._at - time.monotonic())

    @property
    def has_passed(self) -> bool:
        return time.monotonic() >= self._at

    async def run_in_thread(self, work: Callable[[], T]) -> T:
        """Run work that checks this deadline in a thread; when cancelled, the deadline passes."""
        try:
            return await asyncio.to_thread(work)
        except asyncio.CancelledError:
            self._at = 0.0
            raise


LIMITS = FileLimits(max_bytes=10_000_000, notebook_factor=1)
"""Files that are too large for the index can still be searched."""
RECENT_NS = 2_000_000_000
"""A directory that changed so shortly before it was listed may change again without another time:
it is listed again."""
KEPT_SELECTIONS = 16
OWN: frozenset[SkipReason] = frozenset(("binary", "generated", "minified", "too large"))
"""Reasons why files of the project are not searched; they are still listed."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Files, sorted by path."""

    files: Sequence[str]
    complete: bool = True  # False: there are too many, or time ran out


@dataclass(frozen=True, slots=True)
class ListedDirectory:
    """What a directory holds, and what must be the same for that to be still true."""

    place: str  # absolute
    above: IgnoreRules  # the rules that hold around it
    rules: IgnoreRules  # and in it
    mtime_ns: int
    reliable: bool  # old enough for its times to show every change
    rule_files: tuple[tuple[str, int, int], ...]
    files: tuple[str, ...]  # that are searched
    others: tuple[str, ...]  # that are not, but are the project's own
    directories: tuple[tuple[str, str], ...]  # absolute, and relative
    skipped: dict[str, SkipReason]  # by name; a directory ends in `/`


class Listing:
    """One project's files. Calls from several threads wait for each other."""

    def __init__(self, root: Root, limits: FileLimits = LIMITS) -> None:
        self._root = root
        self._limits = limits
        self._lock = threading.Lock()
        self._known: dict[str, ListedDirectory] = {}
        self._above = IgnoreRules()
        self._all: Selection | None = None
        self._looked = 0.0  # when the last check of all directories began
        self._selections: dict[tuple[str, bool], Selection] = {}

    def select(self, pattern: str, deadline: Deadline, searched: bool = True) -> Selection:
        """Return the files that a glob selects; the path of a directory selects all in it.

        With `searched` off, files that are not searched, such as images, are included.
        Raises BadPattern, OutsideProject, or InputError if the root cannot be listed.
        """
        pattern = self._make_relative(pattern)
        glob = compile_glob(pattern)
        with self._lock:
            everything = current = self._update(deadline)
            if not searched:
                others = [path for node in self._known.values() for path in node.others]
                everything = Selection(sorted([*current.files, *others]), current.complete)
            if glob is None:
                return everything
            if (kept := self._selections.get((pattern, searched))) is not None:
                return kept
            fits = glob.fullmatch
            files = [path for path in everything.files if fits(path)]
            if not files and not is_wild(pattern):
                lead = pattern.strip("/") + "/"
                files = [path for path in everything.files if path.startswith(lead)]
            selection = Selection(files, everything.complete)
            if current is self._all:
                if len(self._selections) >= KEPT_SELECTIONS:
                    self._selections.clear()
                self._selections[pattern, searched] = selection
            return selection

    def get_last(self, pattern: str) -> Selection | None:
        """Return what a glob selected last time, without checking for changes.

        If nothing has changed, `select` returns the same object.
        """
        pattern = self._make_relative(pattern)
        return self._all if compile_glob(pattern) is None else self._selections.get((pattern, True))

    def find_directory(self, path: str) -> ListedDirectory | SkipReason | None:
        """Return what a directory holds, or why it is left out, or None if there is none."""
        with self._lock:
            node, full = (
                self._find_node(self._root.path, "", self._read_rules_above()),
                self._root.path,
            )
            done = ""
            for step in path.split("/") if path else ():
                done = f"{done}/{step}" if done else step
                full = os.path.join(full, step)
                if isinstance(node, ListedDirectory) and (full, done) in node.directories:
                    node = self._find_node(full, done, node.rules)
                elif isinstance(node, ListedDirectory):
                    return node.skipped.get(f"{step}/")
                else:
                    return node
            return node

    def _make_relative(self, pattern: str) -> str:
        """Remove the root's path from the start of a pattern."""
        return "" if pattern == self._root.path else pattern.removeprefix(self._root.path + "/")

    def _read_rules_above(self) -> IgnoreRules:
        rules = read_rules_above(Path(self._root.path))
        if rules != self._above:
            self._above = rules
        return self._above  # the same object as long as the rules are equal

    def _update(self, deadline: Deadline) -> Selection:
        """Return all files, checked after the call began; calls that wait share one check."""
        if self._all is not None and self._looked > deadline.begun:
            return self._all
        began = time.monotonic()
        selection = self._all
        if selection is None or not self._is_unchanged():
            selection = self._refresh(deadline)
        self._looked = began
        return selection

    def _is_unchanged(self) -> bool:
        """Tell whether no directory has changed, which is the usual case."""
        same_rules = self._known[""].above is self._read_rules_above()
        return same_rules and all(map(_is_unchanged, self._known.values()))

    def _refresh(self, deadline: Deadline) -> Selection:
        """Check all directories and list those that changed."""
        known: dict[str, ListedDirectory] = {}
        complete = True
        count = 0
        try:
            for path, node in walk_directories(
                self._root.path, self._read_rules_above(), self._list_again
            ):
                if not isinstance(node, ListedDirectory):
                    continue
                if node is not self._known.get(path) and deadline.has_passed:
                    complete = False
                    break
                known[path] = node
                count += len(node.files)
                if count > self._limits.max_files:
                    complete = False
                    break
        except OSError as error:
            raise InputError(f"{self._root.path} cannot be listed.") from error
        self._known |= known
        files = sorted([path for node in known.values() for path in node.files])
        selection = Selection(files[: self._limits.max_files], complete)
        self._selections.clear()
        self._all = selection if complete or count > self._limits.max_files else None
        if self._all is not None:
            self._known = known
        return selection

    def _find_node(
        self, place: str, path: str, above: IgnoreRules
    ) -> ListedDirectory | SkipReason | None:
        """Return one directory, or why it is left out; None if it is gone."""
        try:
            found = self._list_again(place, path, above)
        except OSError as error:
            return None if is_gone(error) else "unreadable"
        if isinstance(found, ListedDirectory) and found is not self._known.get(path):
            self._known[path] = found
            self._all = None  # it changed: the next selection checks all
        return found

    def _list_again(
        self, place: str, path: str, above: IgnoreRules
    ) -> ListedDirectory | SkipReason:
        """Return a directory as before if it has not changed, else list it. Raises OSError."""
        before = self._known.get(path)
        if before is not None and before.above is above and _is_unchanged(before):
            return before
        mtime_ns = os.stat(place).st_mtime_ns
        now = time.time_ns()
        found = read_directory(self._root.path, place, path, above, self._limits)
        if not isinstance(found, DirectoryContents):
            return found
        rule_files = tuple(_describe_rule_files(place, found.names))
        newest = max([mtime_ns, *(mtime for _, mtime, _ in rule_files)])
        lead = f"{path}/" if path else ""
        return ListedDirectory(
            place,
            above,
            found.rules,
            mtime_ns,
            newest < now - RECENT_NS,
            rule_files,
            tuple([file.path for file in found.files]),
            tuple([lead + name for name, reason in found.skipped.items() if reason in OWN]),
            tuple(found.directories),
            found.skipped,
        )


def _is_unchanged(node: ListedDirectory) -> bool:
    """Tell whether a directory holds the same names and rules as when it was listed."""
    try:
        if not node.reliable or os.stat(node.place).st_mtime_ns != node.mtime_ns:
            return False
    except OSError:
        return False
    return not node.rule_files or node.rule_files == tuple(
        _describe_rule_files(node.place, [name for name, _, _ in node.rule_files])
    )


def _describe_rule_files(place: str, names: Collection[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the ignore files of a directory, with what shows that they changed."""
    for name in sorted(IGNORE_FILES.intersection(names)):
        try:
            facts = os.lstat(os.path.join(place, name))
        except OSError:
            yield name, 0, 0
        else:
            yield name, facts.st_mtime_ns, facts.st_size


@dataclass(frozen=True, slots=True)
class Workspace:
    """A root that no tool leaves, its files, and the program that searches them."""

    root: Root
    listing: Listing
    ripgrep: str

    @classmethod
    def at(cls, directory: Path | str, ripgrep: str | None = None) -> Workspace:
        """Return the workspace of a directory. Raises InputError if it is not a directory."""
        root = Root.at(directory)
        return cls(root, Listing(root), ripgrep or find_ripgrep() or "rg")

    async def select(self, pattern: str, deadline: Deadline, searched: bool = True) -> Selection:
        """Return the files that a glob selects. Raises BadPattern or OutsideProject."""
        return await deadline.run_in_thread(
            lambda: self.listing.select(pattern, deadline, searched)
        )
