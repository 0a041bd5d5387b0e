"""File names: which file of a project a written path means."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable


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
        name = _use_slashes(name)
        if _is_absolute(name) or name.startswith(("./", "../")):
            return None
        ending = "/" + posixpath.normpath(name)
        nearby = self._by_name.get(ending.rsplit("/", 1)[-1], [])
        fitting = [path for path in nearby if path.endswith(ending)]
        return fitting[0] if len(fitting) == 1 else None


def guess_paths(name: str, root: str, cwd: str) -> list[str]:
    """Return what a path may mean, relative to the project: from its root or from `cwd`."""
    name, root, cwd = _use_slashes(name), _use_slashes(root), _use_slashes(cwd)
    if _is_absolute(name):
        wanted = [name]
    else:
        wanted = [posixpath.join(root, name), posixpath.join(cwd, name)]
    below = (_strip_root(posixpath.normpath(path), root) for path in wanted)
    return list(dict.fromkeys(path for path in below if path))


def _use_slashes(path: str) -> str:
    return path.replace("\\", "/")


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or path[1:3] == ":/"


def _strip_root(path: str, root: str) -> str | None:
    prefix = root.rstrip("/") + "/"
    return path.removeprefix(prefix) if path.startswith(prefix) else None
