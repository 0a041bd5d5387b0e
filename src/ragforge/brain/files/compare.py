"""Compare: the difference between the files on the disk and those in the store.

`compare` takes all files of a walk, `look_at` a few by their names. `quick_check` estimates: it
lists the names of a large project, and looks only at the files that changed last.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from ragforge.brain.files.beneath import read_bytes
from ragforge.brain.files.exclusions import (
    FOREIGN_ANYWHERE,
    FOREIGN_IN_VENDOR,
    FileLimits,
    SkipReason,
    check_filename,
    is_foreign,
)
from ragforge.brain.files.ignore import IGNORE_FILES, IgnoreRules, read_rules_above
from ragforge.brain.files.walk import (
    DirectoryContents,
    FoundFile,
    SkippedFile,
    check_directory,
    check_name,
    is_utf8,
    judge_file,
    read_directory,
    walk_directories,
)
from ragforge.domain.code import File, FileMark, hash_content
from ragforge.domain.instants import to_epoch_ms
from ragforge.domain.text import MAX_ID_CHARS
from ragforge.records import dataclass

PARSED = "parsed"
"""The state of a file that is stored, but whose relations may be wrong."""
RELATED = "related"
SKIPPED = "skipped"
"""The state of a file that is not worth parsing begins so; the reason follows."""

STRUCTURE = IGNORE_FILES | FOREIGN_ANYWHERE | FOREIGN_IN_VENDOR
"""Names of files that decide about other files: after a change of one, all are walked."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Files to read, files that are gone, and files that an earlier run did not complete."""

    suspects: tuple[FoundFile, ...]  # new, or with another time or size
    gone: tuple[str, ...]
    half_done: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.suspects or self.gone or self.half_done)


def compare(found: Sequence[FoundFile], known: Mapping[str, File]) -> Difference:
    """Return what may have changed, without reading any file."""
    suspects = tuple(file for file in found if not _is_same(file, known.get(file.path)))
    present = {file.path for file in found}
    gone = tuple(path for path in known if path not in present)
    half_done = tuple(path for path, file in known.items() if file.state == PARSED)
    return Difference(suspects, gone, half_done)


def count_changed(root: Path, suspects: Sequence[FoundFile], known: Mapping[str, File]) -> int:
    """Return how many suspects really have another content."""
    changed = 0
    for file in suspects:
        before = known.get(file.path)
        if before is None or _hash_content(root, file.path) != before.hash:
            changed += 1
    return changed


def mark_skipped(reason: SkipReason) -> str:
    """Return the state of a file that is left out for a reason."""
    return f"{SKIPPED}: {reason}"


def is_skipped(file: File | FileMark) -> bool:
    """Tell whether a file is not worth parsing."""
    return file.state.startswith(SKIPPED)


def _hash_content(root: Path, path: str) -> str | None:
    """Return the hash of a file's content, or None if it cannot be read."""
    try:
        return hash_content(read_bytes(str(root), path))
    except OSError:
        return None


def _is_same(found: FoundFile, known: File | None) -> bool:
    return (
        known is not None
        and known.mtime is not None
        and known.state != SKIPPED  # an older version did not store the reason
        and known.size == found.size
        and to_epoch_ms(known.mtime) == found.mtime_ns // 1_000_000
    )


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """The files of the project among those named; the others are gone or left out."""

    files: tuple[FoundFile, ...]
    gone: tuple[str, ...]
    skipped: tuple[SkippedFile, ...]


def look_at(root: Path, paths: Collection[str], limits: FileLimits) -> NamedFiles | None:
    """Return what is to be done about files, by their paths relative to the root.

    None if only a walk can say: a directory is among them, or a file that decides about others.
    """
    top = Path(os.path.realpath(root))
    files: list[FoundFile] = []
    gone: list[str] = []
    skipped: list[SkippedFile] = []
    rules: dict[str, IgnoreRules | SkipReason | None] = {}
    for path in sorted(set(paths)):
        directory, _, name = path.rpartition("/")
        place = top / path
        if name in STRUCTURE or (place.is_dir() and not place.is_symlink()):
            return None
        if directory not in rules:
            rules[directory] = _enter_named(top, directory)
        above = rules[directory]
        found = above if isinstance(above, str) else _check_named(place, path, name, above, limits)
        if isinstance(found, FoundFile):
            files.append(found)
        else:
            gone.append(path)
            skipped += [SkippedFile(path, found)] if found else []
    return NamedFiles(tuple(files), tuple(gone), tuple(skipped))


def _enter_named(top: Path, directory: str) -> IgnoreRules | SkipReason | None:
    """Return the rules in a directory, or why a walk does not enter it; None if there is none."""
    rules, path = read_rules_above(top), ""
    steps: Sequence[str] = directory.split("/") if directory else ()
    for name in ("", *steps):
        path = f"{path}/{name}" if path else name
        place = os.path.join(top, path)
        try:
            if not stat.S_ISDIR(os.lstat(place).st_mode):
                return None
        except OSError:
            return None
        if path and (reason := check_directory(path, name, rules)):
            return reason
        present = {one for one in STRUCTURE if os.path.lexists(os.path.join(place, one))}
        if path and is_foreign(name, present):
            return "vendored"
        rules = rules.enter(place, path, present)
    return rules


def _check_named(
    place: Path, path: str, name: str, rules: IgnoreRules | None, limits: FileLimits
) -> FoundFile | SkipReason | None:
    """Return a file, or why it is left out; None if it is gone."""
    if rules is None:
        return None
    try:
        facts = os.lstat(place)
    except OSError:
        return None
    if not is_utf8(path) or len(path) > MAX_ID_CHARS:
        return "name"
    reason = check_name(path, name, rules) or check_filename(path)
    return reason or judge_file(path, facts, limits)


def quick_check(
    root: Path, known: Collection[str], newest: Sequence[File], limits: FileLimits
) -> int:
    """Return how many files came, went, or are among the newest and have another size or time.

    Raises OSError if the root cannot be listed.
    """
    top = os.path.realpath(root)
    check = _QuickCheck(top, limits)
    for path in known:
        directory, _, name = path.rpartition("/")
        check.known[directory].add(name)
    for directory in list(check.known):
        while directory := directory.rpartition("/")[0]:
            check.known.setdefault(directory, set())  # it may hold only directories
    came, present = 0, 0
    for path, found in walk_directories(top, read_rules_above(Path(top)), check.read):
        if not isinstance(found, str):
            there = check.known.get(path, set())
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
class _QuickCheck:
    """Lists directories; one without new names is not read closer."""

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
