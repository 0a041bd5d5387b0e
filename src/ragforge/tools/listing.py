"""Listing: the files of a project as the brain's walk finds them, kept between calls.

A directory whose time has not changed has the same names in it. So a call looks at the times
of the directories, which takes a tenth of a walk, and lists those that changed.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ragforge.brain.files.ignore import IGNORE_FILES, IgnoreRules, rules_above
from ragforge.brain.files.limits import FileLimits
from ragforge.brain.files.names import SkipReason, is_foreign, reason_to_skip
from ragforge.brain.files.walk import prune
from ragforge.errors import InputError
from ragforge.tools.confine import Root
from ragforge.tools.deadline import Deadline
from ragforge.tools.globs import compile_glob, is_wild

LIMITS = FileLimits(max_bytes=10_000_000)
"""Larger files than the brain reads are still worth a search."""
RECENT_NS = 2_000_000_000
"""A directory that changed so shortly before it was listed may change again within one tick of
its clock: it is listed once more."""
KEPT_SELECTIONS = 16
OWN: frozenset[SkipReason] = frozenset(("binary", "generated", "minified", "too large"))
"""Why files of the project itself are not searched; they can still be listed."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Files, sorted by path."""

    files: Sequence[str]
    complete: bool = True  # or there are too many, or the time was up


@dataclass(slots=True)
class Directory:
    """What a directory holds, and what must be the same for that to be still true."""

    place: str  # absolute
    above: IgnoreRules  # the rules that hold around it
    rules: IgnoreRules  # and in it
    mtime_ns: int
    reliable: bool  # old enough for its times to tell of every change
    rule_files: tuple[tuple[str, int, int], ...] = ()
    files: tuple[str, ...] = ()  # that are searched
    others: tuple[str, ...] = ()  # that are not, but are the project's own
    directories: tuple[tuple[str, str], ...] = ()  # where it is, and its path
    left_out: dict[str, SkipReason] = field(default_factory=dict)


class Listing:
    """One project's files. Calls from several threads wait for each other."""

    def __init__(self, root: Root, limits: FileLimits = LIMITS) -> None:
        self._root = root
        self._limits = limits
        self._lock = threading.Lock()
        self._known: dict[str, Directory] = {}
        self._above = IgnoreRules()
        self._all: Selection | None = None
        self._looked = 0.0  # when somebody last began to look at all directories
        self._selections: dict[tuple[str, bool], Selection] = {}

    def select(self, pattern: str, deadline: Deadline, searched: bool = True) -> Selection:
        """Return the files that a glob selects; one that spells a directory means all in it.

        Without `searched` also those that no search looks into, such as images. Raises
        BadPattern, OutsideProject, or InputError if the root cannot be listed.
        """
        pattern = self._relative(pattern)
        glob = compile_glob(pattern)
        with self._lock:
            everything = current = self._current(deadline)
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

    def remembered(self, pattern: str) -> Selection | None:
        """Return what a glob selected the last time, without looking whether it still does.

        If it does, `select` returns the same object.
        """
        pattern = self._relative(pattern)
        return self._all if compile_glob(pattern) is None else self._selections.get((pattern, True))

    def directory(self, path: str) -> Directory | SkipReason | None:
        """Return what is in a directory, or why nobody looks into it, or None if there is none."""
        with self._lock:
            node, full = self._node(self._root.path, "", self._rules_above()), self._root.path
            done = ""
            for step in path.split("/") if path else ():
                done = f"{done}/{step}" if done else step
                full = os.path.join(full, step)
                if isinstance(node, Directory) and (full, done) in node.directories:
                    node = self._node(full, done, node.rules)
                elif isinstance(node, Directory):
                    return node.left_out.get(f"{step}/")
                else:
                    return node
            return node

    def _relative(self, pattern: str) -> str:
        """Let a pattern begin with where the root is."""
        return "" if pattern == self._root.path else pattern.removeprefix(self._root.path + "/")

    def _rules_above(self) -> IgnoreRules:
        rules = rules_above(Path(self._root.path))
        if rules != self._above:
            self._above = rules
        return self._above  # the same object as long as it says the same

    def _current(self, deadline: Deadline) -> Selection:
        """Return all files as they are after a call began; one look serves all that wait for it."""
        if self._all is not None and self._looked > deadline.begun:
            return self._all
        began = time.monotonic()
        selection = self._all
        if selection is None or not self._is_as_it_was():
            selection = self._refresh(deadline)
        self._looked = began
        return selection

    def _is_as_it_was(self) -> bool:
        """Tell whether no directory has changed, as is mostly so."""
        same_rules = self._known[""].above is self._rules_above()
        return same_rules and all(map(_is_as_it_was, self._known.values()))

    def _refresh(self, deadline: Deadline) -> Selection:
        """Look at all directories, level by level, so that a limit cuts off what lies deepest."""
        known: dict[str, Directory] = {}
        complete = True
        count = 0
        waiting: deque[tuple[str, str, IgnoreRules]] = deque(
            [(self._root.path, "", self._rules_above())]
        )
        while waiting:
            full, path, above = waiting.popleft()
            node = self._known.get(path)
            if node is None or node.above is not above or not _is_as_it_was(node):
                found = self._list(full, path, above)
                if not isinstance(found, Directory):
                    if not path:
                        raise InputError(f"{self._root.path} cannot be listed.")
                    continue
                node = found
                if deadline.has_passed:
                    complete = False
                    break
            known[path] = node
            count += len(node.files)
            if count > self._limits.max_files:
                complete = False
                break
            rules = node.rules
            waiting.extend([(inner, name, rules) for inner, name in node.directories])
        self._known |= known
        files = sorted([path for node in known.values() for path in node.files])
        selection = Selection(files[: self._limits.max_files], complete)
        self._selections.clear()
        self._all = selection if complete or count > self._limits.max_files else None
        if self._all is not None:
            self._known = known
        return selection

    def _node(self, full: str, path: str, above: IgnoreRules) -> Directory | SkipReason | None:
        before = self._known.get(path)
        if before is not None and before.above is above and _is_as_it_was(before):
            return before
        found = self._list(full, path, above)
        if isinstance(found, Directory):
            self._known[path] = found
            self._all = None  # a directory that changed: the whole is looked at anew
        return found

    def _list(self, full: str, path: str, above: IgnoreRules) -> Directory | SkipReason | None:
        """List a directory, or return why not; None if it is gone."""
        try:
            mtime_ns = os.stat(full).st_mtime_ns
            now = time.time_ns()
            with os.scandir(full) as listing:
                entries = list(listing)
        except OSError as error:
            gone = isinstance(error, FileNotFoundError | NotADirectoryError)
            return None if gone else "unreadable"
        names = {entry.name for entry in entries}
        if path and is_foreign(path.rpartition("/")[2], names):
            return "vendored"
        rules = above
        rule_files: tuple[tuple[str, int, int], ...] = ()
        if not IGNORE_FILES.isdisjoint(names):
            rule_files = tuple(_rule_files(full, names))
            rules = above.enter(full, path, names)
        newest = max([mtime_ns, *(mtime for _, mtime, _ in rule_files)])
        node = Directory(full, above, rules, mtime_ns, newest < now - RECENT_NS, rule_files)
        self._sort_out(entries, f"{path}/" if path else "", node)
        return node

    def _sort_out(self, entries: list[os.DirEntry[str]], lead: str, node: Directory) -> None:
        files: list[str] = []
        others: list[str] = []
        directories: list[tuple[str, str]] = []
        for entry in entries:
            name, inner = entry.name, lead + entry.name
            if not name.isascii() and not _is_utf8(name):
                node.left_out[name.encode(errors="backslashreplace").decode()] = "name"
            elif entry.is_dir(follow_symlinks=False):
                if reason := prune(inner, name, node.rules):
                    node.left_out[f"{name}/"] = reason
                else:
                    directories.append((entry.path, inner))
            elif name == ".git":
                node.left_out[name] = "version control"
            elif node.rules.ignores(inner, name, False):
                node.left_out[name] = "ignored"
            elif reason := self._file(entry, inner):
                node.left_out[name] = reason
                if reason in OWN:
                    others.append(inner)
            else:
                files.append(inner)
        node.files, node.others = tuple(files), tuple(others)
        node.directories = tuple(sorted(directories))

    def _file(self, entry: os.DirEntry[str], path: str) -> SkipReason | None:
        if entry.is_symlink():
            return "link" if self._root.holds(os.path.realpath(entry.path)) else "outside"
        if reason := reason_to_skip(path):
            return reason
        try:
            facts = entry.stat(follow_symlinks=False)
        except OSError:
            return "unreadable"
        if not stat.S_ISREG(facts.st_mode):
            return "special"
        return "too large" if facts.st_size > self._limits.max_bytes else None


def _is_as_it_was(node: Directory) -> bool:
    """Tell whether a directory holds the same names and rules as when it was listed."""
    try:
        if not node.reliable or os.stat(node.place).st_mtime_ns != node.mtime_ns:
            return False
    except OSError:
        return False
    return not node.rule_files or node.rule_files == tuple(
        _rule_files(node.place, [name for name, _, _ in node.rule_files])
    )


def _rule_files(full: str, names: Sequence[str] | set[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the ignore files of a directory with what shows that they changed."""
    for name in sorted(IGNORE_FILES.intersection(names)):
        try:
            facts = os.lstat(os.path.join(full, name))
        except OSError:
            yield name, 0, 0
        else:
            yield name, facts.st_mtime_ns, facts.st_size


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
