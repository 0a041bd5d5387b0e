"""Wanted files: those that questions point at, for the process that reads the project."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ragforge.private_files import open_private
from ragforge.records import dataclass

MAX_BYTES = 1_000_000


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
