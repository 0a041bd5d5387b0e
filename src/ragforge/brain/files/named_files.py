"""Named files: what a walk would say of a few files, without walking."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Sequence
from pathlib import Path

from ragforge.brain.files.directory import FoundFile, check_directory, check_name, is_utf8
from ragforge.brain.files.ignore import IGNORE_FILES, IgnoreRules, read_rules_above
from ragforge.brain.files.names import (
    FOREIGN_ANYWHERE,
    FOREIGN_IN_VENDOR,
    FileLimits,
    SkipReason,
    check_filename,
    is_foreign,
)
from ragforge.brain.files.walk import Skipped
from ragforge.domain.text import MAX_ID_CHARS
from ragforge.records import dataclass

STRUCTURE = IGNORE_FILES | FOREIGN_ANYWHERE | FOREIGN_IN_VENDOR
"""Names of files that decide about other files: after a change of one, all are walked."""


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """The files of the project among those named; the others are gone or left out."""

    files: tuple[FoundFile, ...]
    gone: tuple[str, ...]
    skipped: tuple[Skipped, ...]


def look_at(root: Path, paths: Collection[str], limits: FileLimits) -> NamedFiles | None:
    """Return what is to be done about files, by their paths relative to the root.

    None if only a walk can say: a directory is among them, or a file that decides about others.
    """
    top = Path(os.path.realpath(root))
    files: list[FoundFile] = []
    gone: list[str] = []
    skipped: list[Skipped] = []
    rules: dict[str, IgnoreRules | SkipReason | None] = {}
    for path in sorted(set(paths)):
        directory, _, name = path.rpartition("/")
        place = top / path
        if name in STRUCTURE or (place.is_dir() and not place.is_symlink()):
            return None
        if directory not in rules:
            rules[directory] = _enter(top, directory)
        above = rules[directory]
        found = above if isinstance(above, str) else _check(place, path, name, above, limits)
        if isinstance(found, FoundFile):
            files.append(found)
        else:
            gone.append(path)
            skipped += [Skipped(path, found)] if found else []
    return NamedFiles(tuple(files), tuple(gone), tuple(skipped))


def _enter(top: Path, directory: str) -> IgnoreRules | SkipReason | None:
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


def _check(
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
    if reason := check_name(path, name, rules) or check_filename(path):
        return reason
    if not stat.S_ISREG(facts.st_mode):
        return "link" if stat.S_ISLNK(facts.st_mode) else "special"
    if limits.is_too_large(path, facts.st_size):
        return "too large"
    return FoundFile(path, facts.st_size, facts.st_mtime_ns)
