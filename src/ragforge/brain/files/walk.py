"""Walk: the files of a project that are worth reading, and why the others are not."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

from ragforge.brain.files.directory import (
    DirectoryContents,
    FoundFile,
    read_directory,
    walk_directories,
)
from ragforge.brain.files.ignore import IgnoreRules, read_rules_above
from ragforge.brain.files.names import FileLimits, SkipReason
from ragforge.private_files import open_private
from ragforge.records import dataclass

MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or with a `/` at its end a directory and all that is in it."""

    path: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk found, each part sorted by path."""

    files: tuple[FoundFile, ...]
    skipped: tuple[Skipped, ...]
    directories: tuple[str, ...]  # that were entered; the root is ""


def walk(root: Path, limits: FileLimits) -> Walked:
    """Walk the tree from the top down, reading ignore files alone.

    Raises OSError if the root itself cannot be listed: that is not an empty project.
    """
    top = os.path.realpath(root)
    files: list[FoundFile] = []
    skipped: list[Skipped] = []
    directories: list[str] = []

    def read(place: str, path: str, above: IgnoreRules) -> DirectoryContents | SkipReason:
        return read_directory(top, place, path, above, limits)

    for path, found in walk_directories(top, read_rules_above(Path(top)), read):
        lead = f"{path}/" if path else ""
        if not isinstance(found, DirectoryContents):
            skipped.append(Skipped(lead, found))
            continue
        directories.append(path)
        skipped += [Skipped(lead + name, reason) for name, reason in found.skipped.items()]
        files += found.files
        if len(files) > limits.max_files:
            skipped.append(Skipped(files[limits.max_files].path, "too many"))
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
