"""Glance: how many files of a large project seem changed, without looking at each.

Names are listed, which shows what came and went. Of the files that were there before, only those
that were changed last are looked at: they are the likeliest to have changed again.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ragforge.brain.files.compare import compare
from ragforge.brain.files.directory import (
    DirectoryContents,
    FoundFile,
    read_directory,
    walk_directories,
)
from ragforge.brain.files.ignore import IGNORE_FILES, IgnoreRules, read_rules_above
from ragforge.brain.files.names import FileLimits, SkipReason
from ragforge.domain.code import File


def count_seen_changes(
    root: Path, known: Collection[str], newest: Sequence[File], limits: FileLimits
) -> int:
    """Return how many files came, went, or are among the newest and have another size or time.

    Raises OSError if the root cannot be listed.
    """
    top = os.path.realpath(root)
    glance = _Glance(top, limits)
    for path in known:
        directory, _, name = path.rpartition("/")
        glance.known[directory].add(name)
    for directory in list(glance.known):
        while directory := directory.rpartition("/")[0]:
            glance.known.setdefault(directory, set())  # it may hold directories alone
    came, present = 0, 0
    for path, found in walk_directories(top, read_rules_above(Path(top)), glance.read):
        if not isinstance(found, str):
            there = glance.known.get(path, set())
            present += len(there & found.names)
            came += sum(file.path.rpartition("/")[2] not in there for file in found.files)
    return came + len(known) - present + _count_changed(top, newest)


def _count_changed(top: str, files: Sequence[File]) -> int:
    found = []
    for file in files:
        try:
            facts = os.lstat(os.path.join(top, file.path))
        except OSError:
            continue  # counted as gone
        found.append(FoundFile(file.path, facts.st_size, facts.st_mtime_ns))
    return len(compare(found, {file.path: file for file in files}).suspects)


@dataclass(slots=True)
class _Glance:
    """Lists directories; one that holds nothing new is not looked at closer."""

    top: str
    limits: FileLimits
    known: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def read(self, place: str, path: str, above: IgnoreRules) -> DirectoryContents | SkipReason:
        names = frozenset(os.listdir(place))
        inner = []
        for name in sorted(names.difference(self.known.get(path, ()))):
            below = f"{path}/{name}" if path else name
            inside = os.path.join(place, name)
            if below not in self.known or os.path.islink(inside) or not os.path.isdir(inside):
                return read_directory(self.top, place, path, above, self.limits)
            inner.append((inside, below))
        rules = above if IGNORE_FILES.isdisjoint(names) else above.enter(place, path, names)
        return DirectoryContents(rules, names, directories=inner)
