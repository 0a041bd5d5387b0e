"""File paths: translate paths in tool calls and texts to paths in a project."""

from __future__ import annotations

import posixpath


def guess_paths(name: str, root: str, cwd: str) -> list[str]:
    """Return the possible paths in the project: relative to its root or to `cwd`."""
    name, root, cwd = use_slashes(name), use_slashes(root), use_slashes(cwd)
    if is_absolute(name):
        wanted = [name]
    else:
        wanted = [posixpath.join(root, name), posixpath.join(cwd, name)]
    below = (_strip_root(posixpath.normpath(path), root) for path in wanted)
    return list(dict.fromkeys(path for path in below if path))


def use_slashes(path: str) -> str:
    r"""Return a path of any platform with slashes, without the `\\?\` of long ones."""
    return path.replace("\\", "/").removeprefix("//?/")


def is_absolute(path: str) -> bool:
    """Tell whether a path with slashes is absolute, on any platform."""
    return path.startswith("/") or path[1:3] == ":/"


def _strip_root(path: str, root: str) -> str | None:
    prefix = root.rstrip("/") + "/"
    if path[1:2] == ":":  # the letter of a drive is written in either case
        path, prefix = path[0].lower() + path[1:], prefix[:1].lower() + prefix[1:]
    return path.removeprefix(prefix) if path.startswith(prefix) else None
