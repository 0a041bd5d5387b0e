"""The identity of real repositories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ragforge.domain.projects import RepositoryIdentity
from ragforge.folders import make_stamp
from ragforge.tools.command.git.repository import read_identity

REMOTE = "https://ann:token@Example.org/shop.git"


def git(folder: Path, *words: str) -> None:
    folder.mkdir(exist_ok=True, parents=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    command = ["git", "-c", "init.defaultBranch=main", *who, *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    git(root, "init")
    git(root, "commit", "--allow-empty", "-m", "first")
    git(root, "commit", "--allow-empty", "-m", "second")
    return root


def identify(root: Path) -> RepositoryIdentity:
    found = read_identity(str(root))
    assert found is not None
    return found


def test_clones_and_worktrees_have_one_identity(shop: Path, tmp_path: Path) -> None:
    clone, tree = tmp_path / "else" / "clone", tmp_path / "tree"
    clone.parent.mkdir()
    git(tmp_path, "clone", str(shop), str(clone))
    git(shop, "worktree", "add", str(tree), "-b", "side")

    known = identify(shop)

    assert known.remote is None
    assert len(known.roots) == 1
    assert identify(clone) == identify(tree) == known


def test_a_remote_is_part_of_it_without_its_password(shop: Path, tmp_path: Path) -> None:
    git(shop, "remote", "add", "origin", REMOTE)
    git(shop, "worktree", "add", str(tmp_path / "tree"), "-b", "side")

    assert identify(shop).remote == "example.org/shop"
    assert identify(tmp_path / "tree").remote == "example.org/shop"


def test_a_shallow_clone_has_no_roots(shop: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--depth=1", f"file://{shop}", "shallow")

    assert identify(tmp_path / "shallow") == RepositoryIdentity()


def test_a_folder_and_an_empty_repository_have_no_identity(tmp_path: Path) -> None:
    assert identify(tmp_path) == RepositoryIdentity()
    assert make_stamp(tmp_path) == ""
    git(tmp_path / "new", "init")

    assert identify(tmp_path / "new") == RepositoryIdentity()


def test_the_stamp_changes_with_the_repository_and_not_with_commits(
    shop: Path, tmp_path: Path
) -> None:
    before = make_stamp(shop)
    git(shop, "commit", "--allow-empty", "-m", "third")
    assert make_stamp(shop) == before

    git(shop, "remote", "add", "origin", REMOTE)
    with_remote = make_stamp(shop)
    shop.rename(tmp_path / "aside")
    git(shop, "init")

    assert len({before, with_remote, make_stamp(shop)}) == 3


def test_a_repository_that_leads_out_of_the_project_is_not_read(shop: Path, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / ".git").write_text(f"gitdir: {shop / '.git'}\n")

    assert read_identity(str(stranger)) is None
