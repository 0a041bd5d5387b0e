"""Directory: what one directory of a project holds, by the rules of every walk.

The walk of an ingestion, the watcher and the listing of the tools all choose files here.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple, Protocol, TypeVar

from ragforge.brain.files import beneath
from ragforge.brain.files.ignore import IGNORE_FILES, IgnoreRules
from ragforge.brain.files.names import (
    FileLimits,
    SkipReason,
    check_directory_name,
    check_filename,
    is_foreign,
)
from ragforge.domain.text import MAX_ID_CHARS

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
    if not stat.S_ISREG(facts.st_mode):
        return "special"
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
    """Tell whether a directory cannot be listed because there is none any more."""
    return isinstance(error, FileNotFoundError | NotADirectoryError)
