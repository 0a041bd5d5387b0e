"""Links: nothing that git reads of a repository may lead out of the project.

A repository may come from a stranger. Git follows links in its own directory, and prints
what it does not understand of a file: a link there would show any file of the user.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence

from ragforge.tools.command.plan import NotAllowed
from ragforge.tools.confine import Root

SMALL = 1_000_000
MAX_ENTRIES = 100_000
"""How many refs and logs are checked; a repository with more has them packed."""
_SINGLE_FILES = ("config", "packed-refs", "shallow", "reftable", "objects", "refs", "logs", "info")
_WALKED = ("refs", "logs", "worktrees", "reftable", "info")
_NEVER_READ = frozenset({"hooks", "lfs", "annex", "modules", "rr-cache", "svn"})
_READ = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _READ |= getattr(os, _name, 0)
_IN_WORK_TREE = (".gitignore", ".gitattributes", ".gitmodules", ".mailmap")


def check_links(root: str, git_dir: str, common_dir: str, area: Sequence[str]) -> None:
    """Raise NotAllowed if something that git reads leads out of these directories."""
    for path in _list_parts(root, git_dir, common_dir):
        real = os.path.realpath(path)
        if not any(Root(folder).holds(real) for folder in area):
            name = os.path.relpath(path, common_dir)
            raise NotAllowed(f"the repository has links that lead out of the project: {name}")


def _list_parts(root: str, git_dir: str, common_dir: str) -> Iterator[str]:
    yield from (os.path.join(root, name) for name in _IN_WORK_TREE)
    budget = [MAX_ENTRIES]
    for folder in dict.fromkeys((git_dir, common_dir)):
        yield from (os.path.join(folder, name) for name in _SINGLE_FILES)
        for path in _find_links(folder):
            if os.path.basename(path) not in _NEVER_READ:
                yield path
        for name in _WALKED:
            yield from _find_links_below(os.path.join(folder, name), budget)
    yield from _list_objects(os.path.join(common_dir, "objects"))


def _list_objects(folder: str) -> Iterator[str]:
    """Yield the places of objects, those of other repositories that are borrowed included."""
    seen: set[str] = set()
    borrowed = [folder]
    while borrowed:
        objects = borrowed.pop()
        if objects in seen:
            continue
        seen.add(objects)
        yield objects
        for inner in (objects, os.path.join(objects, "pack"), os.path.join(objects, "info")):
            yield from _find_links(inner)
        alternates = os.path.join(objects, "info", "alternates")
        if os.path.isfile(alternates):
            lines = read_small(alternates).decode(errors="replace").split("\n")
            borrowed += [os.path.join(objects, _read_alternate(line)) for line in lines if line]


def _read_alternate(line: str) -> str:
    """Return a path of `objects/info/alternates`. Git reads a quoted one as a C string."""
    if line.startswith('"'):
        raise NotAllowed("the repository borrows objects from a quoted path")
    return "" if line.startswith("#") else line


def _find_links(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from [entry.path for entry in entries if entry.is_symlink()]
    except OSError:
        return


def _find_links_below(folder: str, budget: list[int]) -> Iterator[str]:
    """Yield the links in a directory and in those below it. Raises NotAllowed if it is huge."""
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                listed = list(entries)
        except OSError:
            continue
        budget[0] -= len(listed)
        if budget[0] < 0:
            raise NotAllowed("the repository has too many loose refs to be checked")
        for entry in listed:
            if entry.is_symlink():
                yield entry.path
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)


def read_small(path: str, limit: int = SMALL) -> bytes:
    """Return the content of a small regular file, not through a link. Raises NotAllowed."""
    try:
        if not hasattr(os, "O_NOFOLLOW") and os.path.islink(path):  # Windows
            raise OSError(f"{path} is a link")
        handle = os.open(path, _READ)
    except OSError as error:
        raise NotAllowed(f"{os.path.basename(path)} of the repository cannot be read") from error
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > limit:
            raise NotAllowed(f"{os.path.basename(path)} of the repository is not a small file")
        return file.read(limit)
