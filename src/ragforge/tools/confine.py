"""Confine: resolve paths so that none leads out of the project."""

from __future__ import annotations

import io
import os
from pathlib import Path

from ragforge.brain.files import beneath
from ragforge.errors import InputError, OutsideProject
from ragforge.records import dataclass

BUFFER = 1 << 16


@dataclass(frozen=True, slots=True)
class Root:
    """The directory that no path may leave; its own path has no links."""

    path: str

    @classmethod
    def at(cls, directory: Path | str) -> Root:
        """Return the root at a directory. Raises InputError if it is not a directory."""
        path = os.path.realpath(directory)
        if not os.path.isdir(path):
            raise InputError(f"{directory} is not a directory.")
        return cls(path)

    def inside(self, path: str) -> str:
        """Return a path relative to the root, with `/` and without links; the root is "".

        The path need not exist. Raises OutsideProject, or InputError if it is not a valid path.
        """
        real = self.real(path)
        return "" if real == self.path else os.path.relpath(real, self.path).replace(os.sep, "/")

    def real(self, path: str, seen_from: str | None = None) -> str:
        """Return where a path leads, absolute and without links; `seen_from` is a directory inside.

        Raises OutsideProject, or InputError if it is not a valid path.
        """
        try:
            os.fsencode(path)
            real = os.path.realpath(os.path.join(seen_from or self.path, path))
        except (ValueError, OSError) as error:
            raise InputError(f"{path!r} is not a valid path: {error}.") from error
        if not self.holds(real):
            raise OutsideProject(path)
        return real

    def holds(self, real: str) -> bool:
        """Tell whether an absolute path without links is the root or below it."""
        lead = self.path if self.path.endswith(os.sep) else self.path + os.sep
        return real == self.path or real.startswith(lead)

    def full(self, path: str) -> str:
        """Return where a relative path is."""
        return os.path.join(self.path, path) if path else self.path

    def open(self, path: str) -> io.BufferedReader:
        """Open a regular file, and nothing that a link or a pipe has become since it was listed.

        Raises OSError.
        """
        return io.BufferedReader(io.FileIO(beneath.open_file(self.path, path)), BUFFER)
