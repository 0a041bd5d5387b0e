"""Walk: the files of a project that are worth reading, and why the others are not."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from ragforge.brain.files import beneath
from ragforge.brain.files.exclusions import (
    FileLimits,
    SkipReason,
    check_directory_name,
    check_filename,
    is_foreign,
)
from ragforge.brain.files.ignore import IGNORE_FILES, IgnoreRules, read_rules_above
from ragforge.domain.text import MAX_ID_CHARS
from ragforge.private_files import open_private
from ragforge.records import dataclass

GIT = ".git"


class FoundFile(NamedTuple):
    """A file to read; its path is relative to the root, with `/`."""

    path: str
    size: int
    mtime_ns: int


@dataclass(slots=True)
class DirectoryContents:
    """What a directory holds, each part sorted by name."""

    rules: IgnoreRules  # that hold in it
    names: frozenset[str]  # all of them
    files: list[FoundFile] = field(default_factory=list)
    directories: list[tuple[str, str]] = field(default_factory=list)  # absolute, and relative
    skipped: dict[str, SkipReason] = field(default_factory=dict)  # by name; a directory ends in `/`


def read_directory(
    root: str, place: str, path: str, above: IgnoreRules, limits: FileLimits
) -> DirectoryContents | SkipReason:
    """Return what a directory holds, or why nothing in it is the project's own.

    Only ignore files are opened. `above` are the rules around it. Raises OSError.
    """
    if not beneath.HAS_DESCRIPTORS:
        return _read_entries(root, place, path, above, limits, place)
    with beneath.open_directory(root, path) as descriptor:
        return _read_entries(root, place, path, above, limits, descriptor)


def _read_entries(
    root: str, place: str, path: str, above: IgnoreRules, limits: FileLimits, listed: int | str
) -> DirectoryContents | SkipReason:
    with os.scandir(listed) as listing:
        entries = sorted(listing, key=attrgetter("name"))
    names = frozenset([entry.name for entry in entries])
    if path and is_foreign(path.rpartition("/")[2], names):
        return "vendored"
    rules = above if IGNORE_FILES.isdisjoint(names) else above.enter(place, path, names)
    found = DirectoryContents(rules, names)
    lead = f"{path}/" if path else ""
    inside = os.path.join(place, "")
    for entry in entries:
        name = entry.name
        inner = lead + name
        if not is_utf8(name) or len(inner) > MAX_ID_CHARS:
            found.skipped[name.encode(errors="backslashreplace").decode()] = "name"
        elif entry.is_dir(follow_symlinks=False):
            if reason := check_directory(inner, name, rules):
                found.skipped[f"{name}/"] = reason
            else:
                found.directories.append((inside + name, inner))
        elif reason := check_name(inner, name, rules):
            found.skipped[name] = reason
        elif isinstance(file := _check_file(root, place, entry, inner, limits), FoundFile):
            found.files.append(file)
        elif file is not None:
            found.skipped[name] = file
    return found


def _check_file(
    root: str, place: str, entry: os.DirEntry[str], path: str, limits: FileLimits
) -> FoundFile | SkipReason | None:
    """Return a file, or why it is left out; None if it is gone since it was listed."""
    if entry.is_symlink():
        return "link" if _is_inside(root, os.path.join(place, entry.name)) else "outside"
    if reason := check_filename(path):
        return reason
    try:
        facts = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError:
        return "unreadable"
    return judge_file(path, facts, limits)


def judge_file(path: str, facts: os.stat_result, limits: FileLimits) -> FoundFile | SkipReason:
    """Return a regular file that is not too large, or why it is left out."""
    if not stat.S_ISREG(facts.st_mode):
        return "link" if stat.S_ISLNK(facts.st_mode) else "special"
    if limits.is_too_large(path, facts.st_size):
        return "too large"
    return FoundFile(path, facts.st_size, facts.st_mtime_ns)


def check_directory(path: str, name: str, rules: IgnoreRules) -> SkipReason | None:
    """Return why a directory is not entered, or None."""
    reason = check_directory_name(name)
    if reason != "version control" and rules.ignores(path, name, is_directory=True):
        return "ignored"
    return reason


def check_name(path: str, name: str, rules: IgnoreRules) -> SkipReason | None:
    """Return why a file or link of this name is left out, or None."""
    if name == GIT:  # of a submodule or a second work tree
        return "version control"
    return "ignored" if rules.ignores(path, name, is_directory=False) else None


def is_utf8(name: str) -> bool:
    """Tell whether a name is valid UTF-8; a disk may hold others."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_inside(root: str, link: str) -> bool:
    target = os.path.realpath(link)
    return target == root or target.startswith(root.rstrip(os.sep) + os.sep)


class Entered(Protocol):
    """A directory whose inner directories are walked too."""

    @property
    def rules(self) -> IgnoreRules: ...

    @property
    def directories(self) -> Sequence[tuple[str, str]]: ...


D = TypeVar("D", bound=Entered)


def walk_directories(
    root: str, above: IgnoreRules, read: Callable[[str, str, IgnoreRules], D | SkipReason]
) -> Iterator[tuple[str, D | SkipReason]]:
    """Yield the path of each directory and what `read` returns for it, the root first.

    Level by level, so that a limit cuts off what lies deepest and not what comes last. `read`
    gets a directory's absolute and relative path and the rules around it. One that is gone
    since its parent was read is left out. Raises OSError if the root cannot be listed.
    """
    waiting = deque([(root, "", above)])
    while waiting:
        place, path, rules = waiting.popleft()
        found: D | SkipReason
        try:
            found = read(place, path, rules)
        except OSError as error:
            if not path:
                raise
            if is_gone(error):
                continue
            found = "unreadable"
        yield path, found
        if not isinstance(found, str):
            inside = found.rules
            waiting.extend([(inner, name, inside) for inner, name in found.directories])


def is_gone(error: OSError) -> bool:
    """Tell whether a directory cannot be listed because it no longer exists."""
    return isinstance(error, FileNotFoundError | NotADirectoryError)


MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file, or with a `/` at its end a directory and all that is in it."""

    path: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk found, each part sorted by path."""

    files: tuple[FoundFile, ...]
    skipped: tuple[SkippedFile, ...]
    directories: tuple[str, ...]  # that were entered; the root is ""


def walk(root: Path, limits: FileLimits) -> Walked:
    """Walk the tree from the top down; of the files, only ignore files are read.

    Raises OSError if the root itself cannot be listed: that is not an empty project.
    """
    top = os.path.realpath(root)
    files: list[FoundFile] = []
    skipped: list[SkippedFile] = []
    directories: list[str] = []

    def read(place: str, path: str, above: IgnoreRules) -> DirectoryContents | SkipReason:
        return read_directory(top, place, path, above, limits)

    for path, found in walk_directories(top, read_rules_above(Path(top)), read):
        lead = f"{path}/" if path else ""
        if not isinstance(found, DirectoryContents):
            skipped.append(SkippedFile(lead, found))
            continue
        directories.append(path)
        skipped += [SkippedFile(lead + name, reason) for name, reason in found.skipped.items()]
        files += found.files
        if len(files) > limits.max_files:
            skipped.append(SkippedFile(files[limits.max_files].path, "too many"))
            del files[limits.max_files :]
            break
    by_path = attrgetter("path")
    return Walked(
        tuple(sorted(files, key=by_path)),
        tuple(sorted(skipped, key=by_path)),
        tuple(sorted(directories)),
    )


@dataclass(frozen=True, slots=True)
class WantedFiles:
    """The unread files that questions point at, handed to the process that reads the project.

    They are lines of a private file. If it cannot be written, files are read in their usual order.
    """

    place: Path

    def add(self, paths: Iterable[str]) -> None:
        """Ask for files to be read next."""
        with suppress(OSError):
            if self.place.exists() and self.place.stat().st_size > MAX_BYTES:
                return
            with open_private(self.place) as file:
                file.write("".join(f"{path}\n" for path in paths if "\n" not in path))

    def take(self) -> list[str]:
        """Return the files that were asked for since the last call."""
        with suppress(OSError):
            taken = self.place.with_suffix(".taken")
            self.place.replace(taken)
            paths = taken.read_text("utf-8", errors="replace").splitlines()
            taken.unlink()
            return list(dict.fromkeys(paths))
        return []
