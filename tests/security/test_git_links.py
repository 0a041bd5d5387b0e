"""Links in a repository, and ignore files that are links, show nothing from outside the project."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ragforge.tools.command.run import CommandResult, CommandRunner

pytestmark = pytest.mark.skipif(
    os.name != "posix" or shutil.which("git") is None, reason="needs git on POSIX"
)
CANARY = "canary-of-the-user"
HEAD = b"0" * 40 + b"\n"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the user next to the project; its lines are bad refs, bad globs, bad everything."""
    file = tmp_path / "home" / "id_ed25519"
    file.parent.mkdir()
    file.write_text(f"[{CANARY}\n{{{CANARY}\n{CANARY}[a-\n")
    return file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one commit."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("hello\n")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.invalid"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    return folder


def add_worktree(root: Path) -> Path:
    """Plant the administration of a linked work tree."""
    folder = root / ".git" / "worktrees" / "x"
    folder.mkdir(parents=True)
    (folder / "HEAD").write_bytes(HEAD)
    (folder / "commondir").write_text("../..\n")
    (folder / "gitdir").write_text("/nowhere/.git\n")
    return folder


def link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def plant_worktree(name: str) -> Callable[[Path, Path], None]:
    return lambda root, secret: link(add_worktree(root) / name, secret)


def plant(path: str) -> Callable[[Path, Path], None]:
    return lambda root, secret: link(root / ".git" / path, secret)


def plant_folder(path: str) -> Callable[[Path, Path], None]:
    def make(root: Path, secret: Path) -> None:
        shutil.rmtree(root / ".git" / path, ignore_errors=True)
        link(root / ".git" / path, secret.parent)

    return make


def borrow(line: str) -> Callable[[Path, Path], None]:
    def make(root: Path, secret: Path) -> None:
        text = line.format(folder=secret.parent, octal=str(secret.parent).replace("/", "\\057"))
        (root / ".git" / "objects" / "info" / "alternates").write_text(text)

    return make


PLANTED = {
    "gitdir of a work tree": (plant_worktree("gitdir"), "git worktree list"),
    "gitdir, by a format": (
        plant_worktree("gitdir"),
        "git for-each-ref --format='%(refname) %(worktreepath)'",
    ),
    "lock of a work tree": (plant_worktree("locked"), "git worktree list --porcelain"),
    "HEAD of a work tree": (plant_worktree("HEAD"), "git log --all --oneline"),
    "all work trees": (plant_folder("worktrees"), "git worktree list"),
    "a branch": (plant("refs/heads/evil"), "git log --oneline evil"),
    "a branch in a folder": (plant("refs/heads/a/b/evil"), "git branch -a"),
    "a folder of branches": (plant_folder("refs/heads/more"), "git for-each-ref"),
    "a tag": (plant("refs/tags/v1"), "git show-ref"),
    "the stash": (plant("refs/stash"), "git stash list"),
    "the log of a branch": (plant("logs/refs/heads/main"), "git reflog show main"),
    "all logs": (plant_folder("logs/refs"), "git reflog show main"),
    "packed refs": (plant("packed-refs"), "git show-ref"),
    "HEAD": (plant("HEAD"), "git status --short"),
    "FETCH_HEAD": (plant("FETCH_HEAD"), "git log -1 FETCH_HEAD"),
    "the configuration": (plant("config"), "git config --get user.name"),
    "what is excluded": (plant("info/exclude"), "git status --short --ignored"),
    "the index": (plant("index"), "git ls-files -s"),
    "a shared index": (plant("sharedindex." + "a" * 40), "git status --short"),
    "commondir": (plant("commondir"), "git log --oneline"),
    "borrowed objects": (borrow("{folder}\n"), "git log --oneline"),
    "borrowed objects, quoted": (borrow('"{octal}"\n'), "git log --oneline"),
    "borrowed objects, after a comment": (borrow("# x\n../../../../{folder}\n"), "git log"),
    "a pack": (plant("objects/pack/pack-1.idx"), "git log --oneline"),
    "the list of authors": (
        lambda root, secret: link(root / ".mailmap", secret),
        "git shortlog -sne HEAD",
    ),
    "ignored files of git": (
        lambda root, secret: link(root / ".gitignore", secret),
        "git check-ignore -v a.txt",
    ),
    "attributes": (
        lambda root, secret: link(root / ".gitattributes", secret),
        "git check-attr -a a.txt",
    ),
}


async def run(root: Path, line: str) -> CommandResult:
    """Run a line that only reads; without a sandbox, which would hide what leaks."""
    return await CommandRunner(root, sandbox="off").run(line, timeout=60)


@pytest.mark.parametrize("what", PLANTED)
async def test_git_does_not_show_what_a_link_leads_to(what: str, root: Path, secret: Path) -> None:
    make, line = PLANTED[what]
    make(root, secret)

    result = await run(root, line)

    assert CANARY not in result.stdout + result.stderr
    assert result.refused, result


@pytest.mark.parametrize("what", ["a file outside", "a folder outside", "a file that points there"])
async def test_a_git_file_that_leads_out_is_not_followed(
    what: str, root: Path, secret: Path
) -> None:
    other = secret.parent / "other"
    (root / ".git").rename(other)
    if what == "a file outside":
        (secret.parent / "pointer").write_text(f"gitdir: {other}\n")
        (root / ".git").symlink_to(secret.parent / "pointer")
    elif what == "a folder outside":
        (root / ".git").symlink_to(other)
    else:
        (root / ".git").write_text(f"gitdir: {other}\n")

    result = await run(root, "git log --oneline")

    assert result.refused
    assert "one" not in result.stdout


async def test_links_that_stay_inside_are_followed(root: Path) -> None:
    (root / ".git" / "refs" / "heads" / "same").symlink_to("main")

    assert "one" in (await run(root, "git log --oneline same")).stdout


async def test_linked_work_trees_are_still_listed(root: Path, tmp_path: Path) -> None:
    subprocess.run(
        ["git", "worktree", "add", "-q", "-b", "side", str(tmp_path / "side")],
        cwd=root,
        check=True,
        capture_output=True,
    )
    subprocess.run(
        ["git", "worktree", "lock", "--reason", "busy", str(tmp_path / "side")],
        cwd=root,
        check=True,
    )

    listed = (await run(root, "git worktree list --porcelain")).stdout

    assert f"worktree {tmp_path / 'side'}" in listed
    assert "branch refs/heads/side" in listed
    assert "locked busy" in listed


@pytest.mark.parametrize("name", [".ignore", ".rgignore", ".gitignore"])
@pytest.mark.parametrize("place", ["", "deep/er"])
async def test_ripgrep_prints_no_line_of_an_ignore_file_that_is_a_link(
    name: str, place: str, root: Path, secret: Path
) -> None:
    link(root / place / name, secret)

    result = await run(root, "rg hello; rg --files; rg --no-require-git hello a.txt deep")

    assert CANARY not in result.stdout + result.stderr
    assert result.refused is None


async def test_a_repository_with_very_many_loose_refs_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragforge.tools.command.git.links.MAX_ENTRIES", 3)

    assert "too many loose refs" in str((await run(root, "git log")).refused)
