"""File names: which file of a project a written path means."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from ragforge.domain.file_paths import guess_paths, is_absolute, use_slashes


class FileNames:
    """Resolves written paths to the files of a project.

    A name that fits two files is not resolved: a wrong link is worse than none.
    """

    def __init__(self, paths: Iterable[str], root: str, cwd: str) -> None:
        self._root, self._cwd = root, cwd
        self._known = set(paths)
        self._by_name: dict[str, list[str]] = {}
        for path in self._known:
            self._by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)

    def resolve(self, name: str) -> str | None:
        """Return the file's path, relative to the project; None if it is unknown or ambiguous."""
        places = [
            place for place in guess_paths(name, self._root, self._cwd) if place in self._known
        ]
        if places:
            return places[0] if len(places) == 1 else None
        name = use_slashes(name)
        if is_absolute(name) or name.startswith(("./", "../")):
            return None
        ending = "/" + posixpath.normpath(name)
        nearby = self._by_name.get(ending.rsplit("/", 1)[-1], [])
        fitting = [path for path in nearby if path.endswith(ending)]
        return fitting[0] if len(fitting) == 1 else None
