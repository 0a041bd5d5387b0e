"""Secrets in files: what read_file does not show, no command shows without permission."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ragforge.tools.command.decide import decide
from ragforge.tools.command.plan import Allowed
from ragforge.tools.command.run import CommandRunner

KEY = "sk-canary-of-the-user"
SECRETS = [
    ".env",
    ".env.production",
    "deep/.env",
    "key.pem",
    "id_rsa",
    ".npmrc",
    ".git/config",
    ".git/credentials",
    ".git/modules/x/config",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name in [*SECRETS, "deep/app.py", ".env.example"]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"TOKEN={KEY}\n" if name in SECRETS else "TOKEN=\n")
    (root / "notes.txt").symlink_to(".env")
    return root


def is_allowed(line: str, root: Path) -> bool:
    return isinstance(decide(line, str(root)), Allowed)


@pytest.mark.parametrize("name", [*SECRETS, "notes.txt", "deep/../.env"])
def test_the_contents_of_a_file_with_secrets_are_not_shown(name: str, project: Path) -> None:
    lines = ["cat {}", "head -1 {}", "grep TOKEN {}", "sed -n 1p {}", "awk 1 {}", "xxd {}"]
    lines += ["jq . {}", "sort {}", "diff {} deep/app.py", "md5sum {}", "wc -l {}", "rg T {}"]
    lines += ["git diff --no-index {} deep/app.py", "cut -c1- {}", "base64 {}", "cat < {}"]
    shown = [line for line in lines if is_allowed(line.format(name), project)]
    assert shown == []


def test_it_may_be_listed_and_described(project: Path) -> None:
    for line in ("ls -la .env", "stat .env", "test -f .env", "find . -name '.env*'", "ls .git"):
        assert is_allowed(line, project), line
    for line in ("cat .env.example", "cat .git/HEAD", "cat .gitignore", "git check-ignore .env"):
        assert is_allowed(line, project), line


@pytest.mark.parametrize(
    "line",
    [
        "grep -r TOKEN .",
        "grep -rn --include=.env TOKEN .",
        "grep -d recurse TOKEN .",
        "grep -r --include='*' TOKEN . deep",
        "rg --hidden --no-ignore TOKEN",
        "rg -uuu TOKEN",
        "rg -uuu -g '.env' TOKEN",
        "rg -uuu --iglob '*.PEM' TOKEN",
        "diff -r . deep",
        "cat *",
        "cat .e*",
        "cd .git && cat config",
        "cd .git && grep -r TOKEN",
        "grep -r TOKEN .git",
        "find . -name '.env*' -exec cat {} +",
        "find . -type f | xargs cat",
        'for f in .env*; do cat "$f"; done',
    ],
)
async def test_a_walk_over_all_files_leaves_them_out(line: str, project: Path) -> None:
    result = await CommandRunner(project).run(line, timeout=60)
    assert KEY not in result.stdout + result.stderr


async def test_a_walk_still_finds_everything_else(project: Path) -> None:
    found = (await CommandRunner(project).run("grep -rn TOKEN .; rg TOKEN")).stdout
    assert sorted(found.splitlines()) == [
        *("./.env.example:1:TOKEN=", "./deep/app.py:1:TOKEN=", "deep/app.py:TOKEN="),
    ]
