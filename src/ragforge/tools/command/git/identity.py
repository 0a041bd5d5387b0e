"""Identity: the root commits and the remote of a project's repository.

Git reads a view of the repository that has none of its configuration, as everywhere.
"""

from __future__ import annotations

import os
import tempfile

from ragforge.domain.projects import RepositoryIdentity, choose_remote
from ragforge.tools.command.environment import find_program
from ragforge.tools.command.git.repository import build_view
from ragforge.tools.command.plan import NotAllowed

MAX_ROOTS = 100
"""A repository with more beginnings is known by its remote alone."""


def read_identity(root: str) -> RepositoryIdentity | None:
    """Return what the repository of a project is known by; None if it cannot be read.

    A folder without a repository, or with one that holds nothing, has an empty identity.
    """
    if not os.path.lexists(os.path.join(root, ".git")):
        return RepositoryIdentity()
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
    return RepositoryIdentity(choose_remote(remotes), roots if len(roots) <= MAX_ROOTS else ())
