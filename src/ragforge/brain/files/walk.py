"""Walk: the files of a project that are worth reading, and why the others are not."""

from __future__ import annotations

import os
import stat
from collections import deque
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

from ragforge.brain.files.ignore import IGNORE_FILES, IgnoreRules, rules_above
from ragforge.brain.files.limits import FileLimits
from ragforge.brain.files.names import SkipReason, is_foreign, reason_to_prune, reason_to_skip


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to index; its path is relative to the root, with `/`."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or with a `/` at its end a directory and all that is in it."""

    path: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk met, each part sorted by path."""

    files: tuple[FoundFile, ...]
    skipped: tuple[Skipped, ...]
    directories: tuple[str, ...]  # that were entered; the root is ""


def walk(root: Path, limits: FileLimits) -> Walked:
    """Walk the tree from the top down, reading ignore files alone.

    Raises OSError if the root itself cannot be listed: that is not an empty project.
    """
    return _Walk(Path(os.path.realpath(root)), limits).run()


def prune(path: str, name: str, ignore: IgnoreRules) -> SkipReason | None:
    """Return why a directory is not entered, or None."""
    reason = reason_to_prune(name)
    if reason != "version control" and ignore.ignores(path, name, is_directory=True):
        return "ignored"
    return reason


@dataclass(slots=True)
class _Walk:
    root: Path
    limits: FileLimits
    files: list[FoundFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    # Level by level, so that a limit cuts off what lies deepest and not what comes last.
    waiting: deque[tuple[str, str, IgnoreRules]] = field(default_factory=deque)

    def run(self) -> Walked:
        self.waiting.append((str(self.root), "", rules_above(self.root)))
        while self.waiting:
            directory, path, ignore = self.waiting.popleft()
            try:
                with os.scandir(directory) as listing:
                    entries = sorted(listing, key=attrgetter("name"))
            except OSError as error:
                if not path:
                    raise
                if not isinstance(error, FileNotFoundError):  # gone since it was listed
                    self._skip(f"{path}/", "unreadable")
                continue
            if not self._take(entries, directory, path, ignore):
                break
        by_path = attrgetter("path")
        return Walked(
            tuple(sorted(self.files, key=by_path)),
            tuple(sorted(self.skipped, key=by_path)),
            tuple(sorted(self.directories)),
        )

    def _skip(self, path: str, reason: SkipReason) -> None:
        self.skipped.append(Skipped(path, reason))

    def _take(
        self, entries: list[os.DirEntry[str]], directory: str, path: str, ignore: IgnoreRules
    ) -> bool:
        """Sort out what is in a directory; return False once there are too many files."""
        names = {entry.name for entry in entries}
        lead = f"{path}/" if path else ""
        if path and is_foreign(path.rpartition("/")[2], names):
            self._skip(lead, "vendored")
            return True
        self.directories.append(path)
        if not IGNORE_FILES.isdisjoint(names):
            ignore = ignore.enter(directory, path, names)
        for entry in entries:
            inner = lead + entry.name
            if not _is_utf8(entry.name):
                self._skip(inner.encode(errors="backslashreplace").decode(), "name")
            elif entry.is_dir(follow_symlinks=False):
                if reason := prune(inner, entry.name, ignore):
                    self._skip(f"{inner}/", reason)
                else:
                    self.waiting.append((entry.path, inner, ignore))
            elif entry.name == ".git":  # of a submodule or a second work tree
                self._skip(inner, "version control")
            elif ignore.ignores(inner, entry.name, False):
                self._skip(inner, "ignored")
            elif reason := self._file(entry, inner):
                self._skip(inner, reason)
                if reason == "too many":
                    return False
        return True

    def _file(self, entry: os.DirEntry[str], path: str) -> SkipReason | None:
        """Keep a file, or return why not."""
        if entry.is_symlink():
            target = Path(os.path.realpath(entry.path))
            return "link" if target.is_relative_to(self.root) else "outside"
        if reason := reason_to_skip(path):
            return reason
        try:
            facts = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None  # gone since it was listed
        except OSError:
            return "unreadable"
        if not stat.S_ISREG(facts.st_mode):
            return "special"
        if facts.st_size > self.limits.most_bytes(path):
            return "too large"
        if len(self.files) >= self.limits.max_files:
            return "too many"
        self.files.append(FoundFile(path, facts.st_size, facts.st_mtime_ns))
        return None


def _is_utf8(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
