"""Watched tree: the files of a project, kept current without walking all of them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from ragforge.brain.files.directory import check_directory, check_name
from ragforge.brain.files.ignore import IGNORE_FILES, read_rules_in
from ragforge.brain.files.limits import FileLimits
from ragforge.brain.files.named_files import STRUCTURE
from ragforge.brain.files.names import check_filename
from ragforge.brain.files.walk import walk

MANY = 1_000  # from here a walk is cheaper, and the system may have dropped some reports

# What vim, Emacs, JetBrains, GNOME and browsers write beside a file while they save it.
TEMPORARY = re.compile(
    r"""
    4913 | .*~ | \#.*\# | \.\#.* | .*\.(?:sw[a-p]|tmp|crswap)
    | .*___jb_(?:tmp|old|bak)___ | \.goutputstream-.*
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


@dataclass(slots=True)
class WatchedTree:
    """The files and directories of the last walk, with the changes since."""

    root: Path
    limits: FileLimits
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)

    def walk(self) -> frozenset[str]:
        """Walk the tree, and return the files that changed."""
        before, walked = self.files, walk(self.root, self.limits)
        self.files = {file.path: (file.size, file.mtime_ns) for file in walked.files}
        self.directories = set(walked.directories)
        return frozenset(path for path, _ in before.items() ^ self.files.items())

    def sort_out(self, touched: Collection[str]) -> frozenset[str]:
        """Return which files changed, given the absolute paths that were reported."""
        paths = [path for place in touched if (path := self._find_own_path(place)) is not None]
        if len(touched) <= MANY and not any(self._is_structure(path) for path in paths):
            return frozenset([path for path in paths if self._take(path)])
        before = self.files
        changed = self.walk()
        return changed.union(
            path
            for path in paths
            if path in before or path in self.files or _get_name(path) in IGNORE_FILES
        )

    def _find_own_path(self, place: str) -> str | None:
        """Return the relative path, unless it is in a directory that no walk enters."""
        try:
            path = Path(place).relative_to(self.root).as_posix()
        except ValueError:
            return None
        path = "" if path == "." else path
        is_own = _get_parent(path) in self.directories
        return path if is_own and not TEMPORARY.fullmatch(_get_name(path)) else None

    def _is_structure(self, path: str) -> bool:
        """Tell whether directories came or went, or rules changed: then a walk is needed."""
        if _get_name(path) in STRUCTURE:
            return True
        place = self.root / path
        is_directory = place.is_dir() and not place.is_symlink()
        if path in self.directories:
            return not is_directory
        rules = read_rules_in(self.root, _get_parent(path))
        return is_directory and not check_directory(path, _get_name(path), rules)

    def _take(self, path: str) -> bool:
        """Update one path, and return whether it is or was a file of the project."""
        try:
            facts = os.lstat(self.root / path)
        except OSError:
            return self.files.pop(path, None) is not None
        if not stat.S_ISREG(facts.st_mode):
            return self.files.pop(path, None) is not None
        if path not in self.files and self._is_left_out(path, facts.st_size):
            return False
        self.files[path] = (facts.st_size, facts.st_mtime_ns)
        return True

    def _is_left_out(self, path: str, size: int) -> bool:
        if self.limits.is_too_large(path, size) or check_filename(path):
            return True
        return (
            check_name(path, _get_name(path), read_rules_in(self.root, _get_parent(path)))
            is not None
        )


def _get_parent(path: str) -> str:
    return path.rpartition("/")[0]


def _get_name(path: str) -> str:
    return path.rpartition("/")[2]
