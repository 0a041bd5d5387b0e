"""A hostile repository: whatever its files and configuration say, looking at it runs nothing.

Every way known to make git, or another program, run a command is planted with a command that
leaves a canary. Then every git sub-command on the list runs through the real runner.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ragforge.tools.command.git.check import load_subcommands
from ragforge.tools.command.run import CommandResult, CommandRunner
from tests.unit.tools.command.allowed_lines import ALLOWED

pytestmark = pytest.mark.skipif(
    os.name != "posix" or shutil.which("git") is None, reason="needs git on POSIX"
)

LINES = [
    "git log -p --stat",
    "git log --all --graph --oneline",
    "git log -S body -p -- tracked.txt",
    "git log -L 1,1:tracked.txt",
    "git log --format='%h %(trailers) %d'",
    "git whatchanged -2",
    "git show HEAD",
    "git show HEAD:tracked.txt",
    "git show HEAD:data.bin",
    "git diff",
    "git diff HEAD",
    "git diff --cached",
    "git diff HEAD~1 -- data.bin",
    "git diff --stat HEAD~1 HEAD",
    "git diff --no-index tracked.txt data.bin",
    "git diff-tree -p HEAD",
    "git diff-index -p HEAD",
    "git diff-files -p",
    "git status",
    "git status --short --ignored -uall",
    "git status -v",
    "git grep body",
    "git grep --untracked -n body",
    "git grep body HEAD",
    "git blame tracked.txt",
    "git blame -L 1,1 HEAD -- tracked.txt",
    "git annotate tracked.txt",
    "git ls-files -s",
    "git ls-files -m -o",
    "git ls-files --others --exclude-standard",
    "git ls-files --eol",
    "git ls-tree -r HEAD",
    "git rev-parse HEAD",
    "git rev-list --all --count",
    "git shortlog -sne",
    "git branch -avv",
    "git tag -n",
    "git remote -v",
    "git remote get-url origin",
    "git describe --always --dirty",
    "git cat-file -p HEAD:data.bin",
    "git name-rev HEAD",
    "git merge-base HEAD HEAD~1",
    "git cherry -v HEAD~1",
    "git show-ref",
    "git show-branch",
    "git for-each-ref",
    "git symbolic-ref HEAD",
    "git count-objects -v",
    "git check-ignore -v x.log",
    "git check-attr -a tracked.txt",
    "git stash list",
    "git stash show",
    "git stash show -p stash@{0}",
    "git reflog",
    "git reflog show HEAD",
    "git worktree list",
    "git config --get user.name",
    "git version",
    "git --no-pager log -1",
    "git log | cat",
    "rg body",
    "grep -rn body .",
    "find . -type f",
    "ls -laR",
    "cat ./*",
    "file *",
    "wc -l *",
    "diff -r . sub",
    "head -n 1 -- *",
    "du -a .",
]


class Repository:
    """A work tree with a `.git` that a stranger has made."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.canaries = folder / "canaries"
        self.secret = folder / "secret"
        self.root.mkdir(parents=True)
        self.canaries.mkdir()
        self.secret.mkdir()
        (self.secret / "key.txt").write_text("body of a secret\n")

    def git(self, *words: str, cwd: Path | None = None, check: bool = True) -> None:
        clean = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.canaries.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_NAME": "A" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "a@b" for who in ("AUTHOR", "COMMITTER")},
        }
        subprocess.run(
            ["git", *words], cwd=cwd or self.root, env=clean, check=check, capture_output=True
        )

    def canary(self, name: str) -> str:
        """Return a command that leaves a canary and passes its input on."""
        script = self.canaries.parent / f"{name}.sh"
        script.write_text(f'#!/bin/sh\ntouch "{self.canaries}/{name}"\ncat\n')
        script.chmod(0o755)
        return str(script)

    def sung(self) -> list[str]:
        return sorted(path.name for path in self.canaries.iterdir())

    def configure(self, text: str) -> None:
        with (self.root / ".git" / "config").open("a") as file:
            file.write(text)

    async def run(self, line: str, cwd: str | None = None) -> CommandResult:
        return await CommandRunner(self.root).run(line, cwd, timeout=60)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """An honest repository with two commits, a stash, a tag and changes."""
    made = Repository(tmp_path)
    made.git("init", "-q", "-b", "main")
    (made.root / "tracked.txt").write_text("body one\n")
    (made.root / "data.bin").write_bytes(b"\0body\xff")
    (made.root / "same.txt").write_text("never changed\n")
    made.git("add", ".")
    made.git("commit", "-qm", "one")
    (made.root / "tracked.txt").write_text("body two\n")
    (made.root / "data.bin").write_bytes(b"\0body two\xff")
    made.git("commit", "-qam", "two")
    made.git("tag", "v1")
    (made.root / "tracked.txt").write_text("body stashed\n")
    made.git("stash")
    made.git("remote", "add", "origin", "https://user:token@example.invalid/x.git")
    (made.root / "tracked.txt").write_text("body three\n")
    (made.root / "data.bin").write_bytes(b"\0body three\xff")
    (made.root / "sub").mkdir()
    (made.root / "sub" / "x.txt").write_text("body\n")
    return made


def plant_configuration(repository: Repository) -> None:
    canary = repository.canary
    repository.configure(
        f"""
[core]
    fsmonitor = {canary("fsmonitor")}
    hooksPath = {repository.root}/hooks
    pager = {canary("pager")}
    editor = {canary("editor")}
    sshCommand = {canary("ssh")}
    askPass = {canary("askpass")}
    gitProxy = {canary("proxy")}
    alternateRefsCommand = {canary("alternate")}
    attributesFile = {repository.root}/more-attributes
[diff]
    external = {canary("external")}
    tool = evil
    submodule = diff
    ignoreSubmodules = none
[diff "evil"]
    command = {canary("command")}
    textconv = {canary("textconv")}
    cachetextconv = true
[difftool "evil"]
    cmd = {canary("difftool")}
[merge "evil"]
    driver = {canary("merge")}
[filter "evil"]
    clean = {canary("clean")}
    smudge = {canary("smudge")}
    required = true
[filter "busy"]
    process = {canary("process")}
    required = true
[alias]
    log = !{canary("alias-log")}
    st = !{canary("alias-st")}
[pager]
    log = {canary("pager-log")}
    status = {canary("pager-status")}
    grep = {canary("pager-grep")}
    branch = {canary("pager-branch")}
[gpg]
    program = {canary("gpg")}
[log]
    showSignature = true
[credential]
    helper = !{canary("credential")}
[interactive]
    diffFilter = {canary("difffilter")}
[sequence]
    editor = {canary("sequence")}
[trailer "x"]
    command = {canary("trailer")}
[tar "x"]
    command = {canary("tar")}
[uploadpack]
    packObjectsHook = {canary("pack")}
[submodule]
    recurse = true
[protocol]
    allow = always
[extensions]
    partialClone = origin
[remote "origin"]
    promisor = true
    vcs = ext
[include]
    path = {repository.root}/included
[includeIf "gitdir:**"]
    path = {repository.root}/included
"""
    )
    included = f'[core]\n\tfsmonitor = {canary("included")}\n[filter "evil"]\n\tclean = x\n'
    (repository.root / "included").write_text(included)
    attributes = "* filter=evil diff=evil merge=evil\n*.bin filter=busy diff=evil\n"
    (repository.root / ".gitattributes").write_text(attributes)
    (repository.root / "more-attributes").write_text(attributes)
    (repository.root / ".git" / "info" / "attributes").write_text(attributes)
    hooks = (
        "post-index-change fsmonitor-watchman reference-transaction pre-commit post-checkout "
        "post-rewrite pre-auto-gc sendemail-validate"
    )
    for folder in (repository.root / "hooks", repository.root / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in hooks.split():
            shutil.copy(canary(f"hook-{name}"), folder / name)


def plant_submodule(repository: Repository) -> None:
    """Plant a repository inside the repository, with its own configuration."""
    inner = repository.root / "module"
    inner.mkdir()
    repository.git("init", "-q", cwd=inner)
    (inner / "x.txt").write_text("body\n")
    repository.git("add", ".", cwd=inner)
    repository.git("commit", "-qm", "inner", cwd=inner)
    repository.git("add", "module")
    repository.git("commit", "-qm", "with a module")
    (inner / "x.txt").write_text("body changed\n")
    (inner / ".gitattributes").write_text("* filter=inner\n")
    with (inner / ".git" / "config").open("a") as file:
        file.write(f"[core]\n\tfsmonitor = {repository.canary('inner-fsmonitor')}\n")
        file.write(f'[filter "inner"]\n\tclean = {repository.canary("inner-clean")}\n')
    (repository.root / ".gitmodules").write_text(
        '[submodule "module"]\n\tpath = module\n\turl = ./module\n\tignore = none\n'
    )


def plant_file_names(repository: Repository) -> None:
    for name in ("-rf", "--output=x", "a\nb", "$(touch x)", "; touch x", "-exec", "é\udcff"):
        with open(os.fsencode(repository.root) + b"/" + os.fsencode(name), "w") as file:
            file.write("body\n")


PLANTS: dict[str, Callable[[Repository], None]] = {
    "configuration": plant_configuration,
    "submodule": plant_submodule,
    "file names": plant_file_names,
}


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def test_every_sub_command_on_the_list_is_tried() -> None:
    tried = {" ".join(line.split()[1:3]) for line in LINES if line.startswith("git ")}
    single = {words.split()[0] for words in tried}
    assert [name for name in load_subcommands() if name not in single and name not in tried] == []


BITES = {
    "fsmonitor": "[core]\n\tfsmonitor = {canary}\n",
    "external diff": "[diff]\n\texternal = {canary}\n",
    "diff driver": '[diff "evil"]\n\tcommand = {canary}\n',
    "textconv": '[diff "evil"]\n\ttextconv = {canary}\n',
    "clean filter": '[filter "evil"]\n\tclean = {canary}\n',
    "process filter": '[filter "evil"]\n\tprocess = {canary}\n\trequired = true\n',
    "include": "[include]\n\tpath = ../included\n",
    "hook": "[core]\n\thooksPath = hooks\n",
    "submodule": "[diff]\n\tignoreSubmodules = none\n",
}


@pytest.mark.parametrize("name", BITES)
async def test_attacks_that_work_without_the_runner_fail_with_it(
    name: str, repository: Repository
) -> None:
    plant_submodule(repository)
    canary = repository.canary("bite")
    repository.configure(BITES[name].format(canary=canary))
    (repository.root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (repository.root / "included").write_text(f"[core]\n\tfsmonitor = {canary}\n")
    (repository.root / "hooks").mkdir()
    shutil.copy(canary, repository.root / "hooks" / "post-index-change")
    os.utime(repository.root / "same.txt", (1, 1))  # the index needs a refresh
    assert repository.sung() == []

    for line in LINES:
        if any(word in line for word in ("status", "diff", "log -p", "show", "blame", "describe")):
            await repository.run(line)
    assert repository.sung() == []

    for words in (["status"], ["diff"], ["log", "-p"], ["blame", "tracked.txt"]):
        repository.git(*words, check=False)
    assert repository.sung(), "the planted repository no longer works"


async def test_nothing_planted_runs_and_nothing_is_written(repository: Repository) -> None:
    plant_submodule(repository)
    plant_configuration(repository)
    plant_file_names(repository)
    assert repository.sung() == []
    before = snapshot(repository.root)

    for line in LINES:
        result = await repository.run(line)
        assert repository.sung() == [], line
        assert not result.timed_out, line

    assert snapshot(repository.root) == before


@pytest.mark.parametrize("plant", PLANTS)
async def test_git_still_answers_in_a_repository_with(plant: str, repository: Repository) -> None:
    PLANTS[plant](repository)
    log = await repository.run("git log --oneline -- tracked.txt")
    assert [line.split()[1] for line in log.stdout.splitlines()] == ["two", "one"]
    assert " M tracked.txt" in (await repository.run("git status -s")).stdout
    assert "+body three" in (await repository.run("git diff -- tracked.txt")).stdout
    assert "tracked.txt:1:body" in (await repository.run("git grep -n body")).stdout
    assert "body two" in (await repository.run("git show HEAD:tracked.txt")).stdout
    assert "body three" in (await repository.run("git blame tracked.txt")).stdout
    assert "WIP" in (await repository.run("git stash list")).stdout
    assert (await repository.run("git tag")).stdout == "v1\n"


@pytest.mark.long
async def test_everyday_lines_run_nothing_either(repository: Repository) -> None:
    plant_submodule(repository)
    plant_configuration(repository)
    for line in ALLOWED:
        if line.startswith("git "):
            await repository.run(line)
    assert repository.sung() == []


async def test_credentials_in_the_configuration_are_not_shown(repository: Repository) -> None:
    for line in ("git remote -v", "git config --get remote.origin.url"):
        result = await repository.run(line)
        assert "https://example.invalid/x.git" in result.stdout
        assert "token" not in result.stdout


async def test_a_git_file_that_points_to_another_repository_is_refused(
    repository: Repository, tmp_path: Path
) -> None:
    other = Repository(tmp_path / "other")
    (other.root / ".git").write_text(f"gitdir: {repository.root}/.git\n")
    assert "outside the project" in str((await other.run("git log")).refused)
    (other.root / ".git").unlink()
    (other.root / ".git").symlink_to(repository.root / ".git")
    assert "outside the project" in str((await other.run("git log")).refused)
    (other.root / ".git").unlink()
    (other.root / ".git").write_text("no pointer\n")
    assert "not understood" in str((await other.run("git log")).refused)
    (other.root / ".git").unlink()
    assert "not a git repository" in str((await other.run("git log")).refused)


async def test_a_repository_borrowing_from_outside_is_refused(
    repository: Repository, tmp_path: Path
) -> None:
    alternates = repository.root / ".git" / "objects" / "info" / "alternates"
    alternates.write_text(f"{tmp_path}/elsewhere/objects\n")
    assert "lead out" in str((await repository.run("git log")).refused)
    alternates.unlink()
    (repository.root / ".git" / "commondir").write_text(f"{tmp_path}/elsewhere\n")
    assert "outside" in str((await repository.run("git log")).refused)
    (repository.root / ".git" / "commondir").unlink()
    shutil.rmtree(repository.root / ".git" / "logs")
    (repository.root / ".git" / "logs").symlink_to(tmp_path)
    assert "lead out" in str((await repository.run("git log")).refused)


async def test_a_work_tree_set_to_another_place_is_not_used(
    repository: Repository, tmp_path: Path
) -> None:
    repository.git("config", "core.worktree", str(repository.secret))
    shown = await repository.run("git ls-files --others")
    assert "key.txt" not in shown.stdout
    assert (await repository.run("git rev-parse --show-toplevel")).stdout.strip() == str(
        repository.root
    )


async def test_a_linked_work_tree_is_followed_because_it_is_pointed_back_to(
    repository: Repository, tmp_path: Path
) -> None:
    plant_configuration(repository)
    linked = tmp_path / "linked"
    repository.git("-c", "core.fsmonitor=false", "worktree", "add", "--no-checkout", str(linked))
    for canary in repository.canaries.iterdir():
        canary.unlink()
    result = await CommandRunner(linked).run("git log --oneline")
    assert "two" in result.stdout
    assert "linked" in (await CommandRunner(linked).run("git branch --show-current")).stdout
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(linked / ".git", copy / ".git")
    refused = await CommandRunner(copy).run("git log")
    assert "outside the project" in str(refused.refused)
    assert repository.sung() == []


async def test_files_behind_links_out_of_the_project_are_not_read(repository: Repository) -> None:
    """The index may name link/key.txt, and link may lead elsewhere."""
    folder = repository.root / "link"
    folder.mkdir()
    (folder / "key.txt").write_text("nothing\n")
    repository.git("add", "-f", "link/key.txt")
    shutil.rmtree(folder)
    folder.symlink_to(repository.secret)
    (repository.root / "sub" / "key.txt").symlink_to(repository.secret / "key.txt")
    (repository.root / "empty").mkdir()
    for place in (repository.root, repository.root / "empty"):
        (place / "key.txt").write_text("nothing\n")
    for line in (
        "git grep secret",
        "git diff",
        "git blame link/key.txt",
        "git ls-files -m",
        "grep -rn secret .",
        "grep -Rn secret .",
        "rg secret",
        "find . -name key.txt",
        "cat link/key.txt",
        "cat */key.txt",
        "diff -r . sub",
        "diff empty sub",
        "diff key.txt sub",
        "ls -R",
    ):
        result = await repository.run(line)
        assert "body of a secret" not in result.stdout, line


async def test_a_repository_with_sha256_and_a_split_index_is_understood(tmp_path: Path) -> None:
    made = Repository(tmp_path / "other")
    made.git("init", "-q", "-b", "main", "--object-format=sha256")
    (made.root / "x.txt").write_text("body\n")
    made.git("add", ".")
    made.git("commit", "-qm", "one")
    made.git("update-index", "--split-index")
    assert (await made.run("git status -s")).stdout == ""
    assert len((await made.run("git rev-parse HEAD")).stdout.strip()) == 64


async def test_nothing_of_ours_is_left_behind(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    shown = await repository.run("git rev-parse --git-dir; git log -1; git status")
    assert str(place) not in shown.stdout + shown.stderr
    assert list(place.iterdir()) == []
