"""Trigger files: what makes git run programs, and whether a command changed it.

Git runs what hooks and the configuration name, the next time the user calls it and outside any
sandbox. Not every sandbox can protect them, so they are compared before and after a command.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ragforge.tools.command.git.links import read_small
from ragforge.tools.command.plan import NotAllowed
from ragforge.tools.confine import Root

MAX_FILES = 500
MAX_BYTES = 64_000
"""Files that are larger are compared by the time of their last change."""
SHOWN = 5
_OF_WORK_TREE = ("config.worktree", "commondir")
_TRIGGERS = ("hooks", "config", *_OF_WORK_TREE)
_USER_FILES = ("~/.gitconfig", "~/.config/git/config")
_NOT_MODULES = frozenset(("hooks", "info", "logs", "objects", "refs", "lfs", "rr-cache"))
# Where a configuration leads: scripts, further configuration, the work tree of a submodule.
_POINTER = re.compile(
    rb'^[ \t]*(hookspath|path|worktree)[ \t]*=[ \t]*"?([^"\r\n\0]+?)"?[ \t]*$', re.I | re.M
)

_GIT_FILE = re.compile(rb"gitdir:[ \t]*([^\r\n\0]+)")


def list_protected(root: str, repository: Sequence[str] = ()) -> list[str]:
    """Return what should stay as it is in the repository of a project, whether it exists or not.

    `repository` are git's directories outside the project, of a linked work tree.
    """
    found = [] if os.path.isdir(os.path.join(root, ".git")) else [os.path.join(root, ".git")]
    for folder in _list_git_dirs(root, repository):
        found += [os.path.join(folder, name) for name in _TRIGGERS]
        for work_tree in _list_heads(os.path.join(folder, "worktrees")):
            found += [os.path.join(work_tree, name) for name in _OF_WORK_TREE]
    return found


def find_git_folders(root: str) -> list[str]:
    """Return `.git` of a project and where it leads, as a link or as a file that names a folder."""
    place = os.path.join(root, ".git")
    named = _GIT_FILE.match(_read(place))
    target = os.path.join(root, os.fsdecode(named[1])) if named else place
    return [*dict.fromkeys((place, os.path.realpath(target)))]


def take_snapshot(root: str, repository: Sequence[str] = ()) -> dict[str, str]:
    """Return a hash of each file that makes git run programs."""
    if os.name != "posix":
        return {}
    places = list_protected(root, repository)
    named = _list_named([*places, *map(os.path.expanduser, _USER_FILES)], root)
    inside = (path for path in named if any(Root(area).holds(path) for area in (root, *repository)))
    files = (file for place in (*places, *inside) for file in _list_files(place))
    return {path: _describe(path) for path in islice(files, MAX_FILES)}


def describe_changes(before: dict[str, str], after: dict[str, str], root: str) -> str:
    """Return a warning that names what is new, gone or different; empty if nothing is."""
    changed = sorted(path for path in before | after if before.get(path) != after.get(path))
    if not changed:
        return ""
    names = ", ".join(os.path.relpath(path, root) for path in changed[:SHOWN])
    others = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
    text = (
        f"\n[RagForge: this command changed {names}{others}. Git runs what these files name, "
        "outside the sandbox. Check them before git is used again.]\n"
    )
    return text.encode(errors="replace").decode()  # a name need not be UTF-8


def _list_git_dirs(root: str, repository: Sequence[str]) -> Iterator[str]:
    """Yield git's directories, also those of submodules."""
    waiting = [os.path.join(root, ".git"), *repository]
    while waiting:
        folder = waiting.pop()
        if not os.path.isdir(folder):
            continue
        yield folder
        waiting += _list_heads(os.path.join(folder, "modules"))


def _list_heads(folder: str) -> Iterator[str]:
    """Yield the directories below one that have a HEAD; names of submodules may have slashes."""
    for place, names, files in os.walk(folder):
        if "HEAD" in files:
            yield place
            names.clear()
        names[:] = [name for name in names if name not in _NOT_MODULES]


def _list_named(paths: Iterable[str], root: str) -> Iterator[str]:
    """Yield the places that configurations name."""
    for path in paths:
        for key, value in _POINTER.findall(_read(path)):
            folder = root if key.lower() == b"hookspath" else os.path.dirname(path)
            place = os.path.join(folder, os.path.expanduser(os.fsdecode(value)))
            is_work_tree = key.lower() == b"worktree"
            yield os.path.normpath(os.path.join(place, ".git") if is_work_tree else place)


def _list_files(path: str) -> Iterator[str]:
    """Yield a file, or all files below a directory but the examples of hooks."""
    if not os.path.isdir(path):
        yield from [path] if os.path.lexists(path) else []
    for folder, _, names in os.walk(path):
        yield from (os.path.join(folder, name) for name in names if not name.endswith(".sample"))


def _describe(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError as error:
        return f"error {error.errno}"
    mode = stat.S_IFMT(found.st_mode) | found.st_mode & 0o111
    content = found.st_ctime_ns if found.st_size > MAX_BYTES else _read(path)
    text = f"{mode} {os.path.realpath(path)!a} {content!r}"
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: str) -> bytes:
    try:
        return read_small(os.path.realpath(path), MAX_BYTES) if os.path.isfile(path) else b""
    except (NotAllowed, OSError):
        return b""
