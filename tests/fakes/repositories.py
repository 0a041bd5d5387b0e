"""Repositories: real ones, made with git."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.fakes.projects import write


def git(folder: Path, *words: str) -> None:
    """Run git in a folder, which is created if necessary, as a user that git knows."""
    folder.mkdir(exist_ok=True, parents=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def make_repository(root: Path, files: Mapping[str, str]) -> Path:
    """Make a repository with one commit."""
    write(root, files)
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "first")
    return root
