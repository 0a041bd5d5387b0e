"""Identity: the root commits and the remote of a project's repository.

Git reads a view of the repository that has none of its configuration, as everywhere.
"""

from __future__ import annotations

import os
import tempfile

from ragforge.domain.projects import Identity, choose_remote
from ragforge.tools.command.environment import find_program
from ragforge.tools.command.git.links import read_small
from ragforge.tools.command.git.repository import build_view
from ragforge.tools.command.plan import NotAllowed

MOST_ROOTS = 100
"""A repository with more beginnings is known by its remote alone."""


def make_stamp(root: str) -> str:
    """Return a text that changes when another repository, or another remote, may be there.

    It costs a few looks at the file system and no process. "" if there is no repository.
    """
    entry = os.path.join(root, ".git")
    folders = [entry]
    try:
        if os.path.isfile(entry) and not os.path.islink(entry):
            folders.append(os.path.join(root, _read_line(entry).removeprefix("gitdir: ")))
        if os.path.isfile(common := os.path.join(folders[-1], "commondir")):
            folders.append(os.path.join(folders[-1], _read_line(common)))
    except NotAllowed:
        return ""
    places = [folders[0], os.path.join(folders[-1], "config"), os.path.join(folders[-1], "shallow")]
    return " ".join(map(_describe, places)) if os.path.lexists(entry) else ""


def read_identity(root: str) -> Identity | None:
    """Return what the repository of a project is known by; None if it cannot be read.

    A folder without a repository, or with one that holds nothing, has an empty identity.
    """
    if not os.path.lexists(os.path.join(root, ".git")):
        return Identity()
    git = find_program("git", root)
    if git is None:
        return None
    with tempfile.TemporaryDirectory(prefix="ragforge-", ignore_cleanup_errors=True) as place:
        home, folder = os.path.join(place, "home"), os.path.join(place, "view")
        os.mkdir(home, 0o700)
        os.mkdir(folder, 0o700)
        try:
            view = build_view(git, os.path.realpath(root), home, folder)
            remotes = view.list_remotes()
        except (NotAllowed, OSError):
            return None
        is_shallow = os.path.lexists(os.path.join(view.found.common_dir, "shallow"))
        try:
            roots = () if is_shallow else view.list_roots()
        except NotAllowed:  # there is no commit yet, or it takes too long to find out
            roots = ()
    return Identity(choose_remote(remotes), roots if len(roots) <= MOST_ROOTS else ())


def _read_line(path: str) -> str:
    return read_small(path).decode(errors="replace").strip()


def _describe(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return "-"
    if os.path.isdir(path):  # its time changes with every commit
        return str(found.st_ino)
    return f"{found.st_ino}.{found.st_size}.{found.st_mtime_ns}"
