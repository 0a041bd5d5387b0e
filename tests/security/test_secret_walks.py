"""Walks and history: no command shows a file that `cat` refuses, by path or by content."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragforge.tools.command.decide import decide
from ragforge.tools.command.plan import Allowed
from ragforge.tools.command.run import CommandRunner
from tests.fakes.secrets import pem

KEY = "canaryOfTheUser" + "4711"
BY_PATH = [
    *(".ENV", ".env", ".env.bak", "deep/Prod.Env", "terraform.tfstate.backup", "ID_RSA"),
    *(".aws/credentials", ".docker/config.json", "home/.config/gh/hosts.yml", "server.pem.old"),
    *("terraform.tfvars", "prod.auto.tfvars.json", ".streamlit/secrets.toml", "id_rsa~"),
]
BY_CONTENT = ["deploy_key", "keys/gcp.json", "conf/aws.ini", "conf/pair.txt"]
COMMITTED = [*BY_PATH, *BY_CONTENT, "app.py", ".docker/Dockerfile", ".aws/cli/alias"]


def make_content(path: str) -> str:
    if path == "keys/gcp.json":
        return json.dumps({"private_key": f"{pem('PRIVATE KEY')}{KEY}"})
    if path == "conf/aws.ini":
        return f"[default]\naws_access_key_id = x\naws_secret_access_key = {KEY}{'x' * 20}\n"
    if path == "conf/pair.txt":
        return f"{pem('CERTIFICATE')}\n{pem('PRIVATE KEY')}\n{KEY}\n"
    if path == "deploy_key":
        return f"{pem('OPENSSH PRIVATE KEY')}\n{KEY}\n"
    return f"TOKEN={KEY}\n" if path in BY_PATH else "TOKEN=\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with secrets, committed, changed since, and others that are not committed."""
    root = tmp_path_factory.mktemp("walks") / "project"
    for path in COMMITTED:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(make_content(path))
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    for path in COMMITTED:
        (root / path).write_text(f"{make_content(path)}# changed\n")
    git(root, "commit", "-qam", "two")
    git(root, "tag", "files", git(root, "rev-parse", "HEAD:.env"))
    for path in COMMITTED:
        (root / path).write_text(f"{make_content(path)}# changed again\n")
    git(root, "stash", "-q")
    for path in COMMITTED:
        (root / path).write_text(f"{make_content(path)}# not committed\n")
    for path in ("new/.env", "new/fresh_key"):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(make_content("deploy_key"))
    git(root, "add", "terraform.tfvars", "deploy_key")
    return root


def git(root: Path, *words: str) -> str:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    done = subprocess.run(
        ["git", *identity, *words], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


WALKS = [
    "grep -r . .",
    "grep -rh . .docker home conf keys",
    "cd .docker && grep -r . .",
    "cd home/.config/gh/.. && grep -rn oken .",
    "cd keys/.. && grep -rc . keys",
    "grep -rn --include='*.json' . .",
    "grep -r --include=deploy_key . .",
    "grep -d recurse . . conf",
    "rg --hidden .",
    "rg -uuu .",
    "rg .",
    "rg -g '.env*' .",
    "rg -uu -g '*' --no-filename . keys conf .docker",
    "rg --hidden -l canary",
    "rg --hidden -c canary",
    "cd .docker && rg .",
    "rg -t json .",
    "diff -rN . new",
    "diff -r conf keys",
    "diff -rN conf new",
    "diff -r .docker home",
    "diff app.py .docker",
    "find . -type f -exec cat {} +",
    "find . -name '*key*' -exec head -5 {} ;",
    "find . -type f -print0 | xargs -0 cat",
    "ls -A | xargs cat",
    "cat * .*",
    "git grep -e . ",
    "git grep --untracked -e . -- '.en?'",
    "git grep --untracked -a -h .",
    "git grep --cached -e .",
    "git grep -e . HEAD~1",
    "git grep -e . HEAD -- keys conf deploy_key",
    "git grep -l canary",
    "git grep -e --cached -e . deploy_key conf",
    "cd .docker && git grep .",
    "git log -p",
    "git log -p -- '.en*'",
    "git log -p -- ':(icase).env'",
    "git log -p --all -U0 | grep TOKEN",
    "git log -p -- conf keys | rev",
    "git log --patch-with-stat --full-history",
    "git log --cc --word-diff=plain",
    "git log -p --graph --color-words",
    "git whatchanged -p",
    "git show",
    "git show HEAD~1",
    "git show HEAD -- '.e*'",
    "git diff",
    "git diff --cached",
    "git diff HEAD~1 HEAD",
    "git diff --word-diff",
    "git diff --check HEAD",
    "git diff -R --unified=0 HEAD~1",
    "git diff-tree -p HEAD",
    "git diff-index -p HEAD",
    "git diff-files -p",
    "git status -v",
    "git status -vv",
    "git stash show -p",
    "git stash list -p",
    "git reflog -p",
    "git --icase-pathspecs log -p -- .env",
    "git --literal-pathspecs log -p -- .",
]


@pytest.mark.parametrize("line", WALKS)
async def test_no_walk_shows_what_cat_refuses(line: str, project: Path) -> None:
    result = await CommandRunner(project).run(line, timeout=60)

    assert KEY not in result.stdout + result.stderr
    assert KEY[::-1] not in result.stdout
    assert not any(word in result.stdout for word in ("canary", "BEGIN OPENSSH"))


NAMED = [
    *("git show HEAD:{}", "git show --stat HEAD:{}", "git show -s HEAD:./{}", "git show :{}"),
    *(
        "git cat-file -p HEAD~1:{}",
        "git blame {}",
        "git blame HEAD~1 -- {}",
        "git blame {} HEAD",
        "git log -L1,2:{}",
    ),
    *("git diff HEAD -- {}", "git diff HEAD:{} app.py", "git log -p -- {}", "git grep . -- {}"),
    *("cat {}", "head -c 20 {}", "xxd {}", "jq . {}", "jq -r .private_key {}", "sed -n 2p {}"),
    *("awk 1 {}", "base64 {}", "sort < {}", "diff {} app.py", "grep -c . {}", "tac {}"),
    *("git diff --no-index {} app.py", "rg . {}", "tail -n +1 {}", "cut -c1- {}", "strings {}"),
]


@pytest.mark.parametrize("path", [*BY_PATH, *BY_CONTENT])
async def test_a_secret_file_is_not_shown_by_its_name(path: str, project: Path) -> None:
    runner = CommandRunner(project)
    by_git = [line.format(path) for line in NAMED if ":{}" in line or "./{}" in line]

    allowed = [line.format(path) for line in NAMED if is_allowed(line.format(path), project)]

    assert set(allowed) <= set(by_git)
    for line in allowed[:4]:  # git knows what is in a revision, when it runs
        assert (await runner.run(line, timeout=60)).refused, line


def is_allowed(line: str, root: Path) -> bool:
    return isinstance(decide(line, str(root)), Allowed)


def list_objects(root: Path) -> Iterator[str]:
    """Yield ways to name a file, or a directory, without its path."""
    for path in (".env", "deploy_key", ".aws/credentials"):
        blob = git(root, "rev-parse", f"HEAD:{path}")
        yield from (blob, blob[:9], blob[:7].upper(), f"{blob}^{{}}", f"{blob}^{{blob}}")
    yield "files"


async def test_a_file_is_not_shown_by_the_id_of_its_content(project: Path) -> None:
    runner = CommandRunner(project)
    for name in list_objects(project):
        for line in ("git cat-file -p {}", "git show {}", "git show --stat {}", "git diff {} HEAD"):
            result = await runner.run(line.format(name), timeout=60)
            assert KEY not in result.stdout, line.format(name)


@pytest.mark.parametrize(
    "line",
    [
        "git diff {} HEAD:home",
        "git diff {} {}~",
        "git diff-tree -p {} HEAD^{{tree}}",
        "git grep -e . {}",
        "git grep -e . HEAD:.aws",
        "cd .aws && git show HEAD:./credentials",
        "git -C .aws log -p -- credentials",
        "git -C .docker show HEAD -- config.json",
        "git diff -a",
        "git log -p --text",
        "git log --binary -1",
        "git show --binary HEAD",
    ],
)
async def test_a_directory_does_not_hide_where_its_files_are(line: str, project: Path) -> None:
    tree = git(project, "rev-parse", "HEAD:.aws")
    result = await CommandRunner(project).run(line.format(tree, tree), timeout=60)
    assert KEY not in result.stdout


@pytest.mark.parametrize(
    "line",
    ["grep -r . .aws", "rg . .aws", "diff -rN .aws new", "grep -r . .streamlit", "rg -. . .AWS"],
)
def test_a_walk_through_a_place_of_secrets_is_refused(line: str, project: Path) -> None:
    (project / ".AWS").mkdir(exist_ok=True)
    assert not is_allowed(line, project)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("grep -rh TOKEN .docker", "TOKEN=\n"),
        ("rg -. --no-filename -m1 TOKEN .docker", "TOKEN=\n"),
        ("git grep -h TOKEN HEAD~1 -- app.py .docker", "TOKEN=\nTOKEN=\n"),
        ("git log -1 -p --format=%s -- app.py | tail -n 1", "+# changed\n"),
        (
            "git diff --stat HEAD~1 HEAD -- app.py | cat",
            " app.py | 1 +\n 1 file changed, 1 insertion(+)\n",
        ),
        ("git show HEAD~1:app.py", "TOKEN=\n"),
        ("git cat-file -t HEAD:.env", "blob\n"),
        ("git log --oneline --format=%s -- .env", "two\none\n"),
        ("git grep -c TOKEN -- app.py", "app.py:1\n"),
    ],
)
async def test_other_files_are_shown_as_ever(line: str, expected: str, project: Path) -> None:
    assert (await CommandRunner(project).run(line, timeout=60)).stdout == expected


@pytest.mark.parametrize("line", ["rg -. .", "rg -. . sub", "git diff HEAD"])
async def test_ignore_files_outside_the_project_hide_nothing_from_the_check(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "around" / "project"
    (root / "sub").mkdir(parents=True)
    (tmp_path / ".config/git").mkdir(parents=True)
    for file in (tmp_path / ".config/git/ignore", root.parent / ".ignore"):
        file.write_text(".env\ndeploy_key\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    git(root, "init", "-q")
    (root / "app.py").write_text("")
    for path in (".env", "sub/.env", "deploy_key", "sub/deploy_key"):
        (root / path).write_text("")
    git(root, "add", "-Af", ".")
    git(root, "commit", "-qm", "one")
    for path in (".env", "sub/.env", "deploy_key", "sub/deploy_key"):
        (root / path).write_text(make_content("deploy_key"))

    result = await CommandRunner(root, sandbox="off").run(line, timeout=60)

    assert KEY not in result.stdout
    assert result.exit_code is not None


async def test_what_a_walk_leaves_out_is_said(project: Path) -> None:
    result = await CommandRunner(project).run("grep -r TOKEN .docker", timeout=60)
    assert result.stderr == "grep: files that may hold secrets are left out: .docker/config.json\n"


async def test_a_key_that_was_removed_long_ago_is_redacted_in_a_patch(tmp_path: Path) -> None:
    key = pem("RSA PRIVATE KEY")
    git(tmp_path, "init", "-q")
    (tmp_path / "notes").write_text(f"{key}\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "rm", "-q", "notes")
    git(tmp_path, "commit", "-qm", "two")

    shown = (await CommandRunner(tmp_path).run("git log -p", timeout=60)).stdout

    assert "two" in shown
    assert not any(line in shown for line in key.splitlines()[1:-1])
