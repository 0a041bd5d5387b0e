"""xargs, `find -exec`, loops and input from files: decided again with every name."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ragforge.tools.command.run import CommandResult, CommandRunner

LINES = [
    "wc -l < a.txt",
    "sort < a.txt | uniq -c",
    "ls *.txt | xargs wc -l",
    "find . -name '*.txt' -print0 | sort -z | xargs -0 grep -c b",
    "ls *.txt | xargs -n1 head -n 1",
    "ls *.txt | xargs -I{} echo 'file {} here'",
    "ls *.txt | xargs -I % grep -H b %",
    "ls *.txt | xargs cat | sort | uniq -c",
    "printf 'a.txt b.txt' | xargs wc -c | tail -1",
    "echo \"'odd name.md'\" | xargs cat",
    "find . -name '*.txt' -exec wc -l {} + | sort",
    "find . -name 'a*' -exec head -n 2 {} \\;",
    "find . \\( -name a.txt -o -name b.txt \\) -exec grep -l b {} + | sort",
    'for f in *.txt; do wc -l "$f"; done',
    'for f in src/*.py a.txt; do echo "== ${f}"; head -n 1 "$f" | cat -n; done',
    "cd src && for f in *.py; do wc -l $f; done",
    "for n in 1 2 3; do echo $n; done",
    'for f in nothing*; do echo "$f"; done',
]


@pytest.fixture
def folder(project: Path) -> Path:
    (project / "odd name.md").write_text("odd\n")
    return project


async def run(root: Path, line: str) -> CommandResult:
    return await CommandRunner(root, sandbox="off").run(line, timeout=60)


async def test_each_does_what_it_does_in_a_shell(folder: Path) -> None:
    wrong = []
    for line in LINES:
        ours = await run(folder, line)
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        theirs = subprocess.run(
            ["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        if (ours.stdout, ours.exit_code) != (theirs.stdout, theirs.returncode):
            wrong.append((line, ours, theirs.stdout, theirs.returncode))
    assert wrong == []


@pytest.mark.parametrize(
    "line",
    [
        "ls -a | xargs cat",
        "ls -a | xargs -I{} cat {}",
        "find . -exec cat {} +",
        "find . -exec cat {} ';'",
        'for f in * .*; do cat "$f"; done',
        "printf '../secret\\n/etc/hostname' | xargs cat",
        "printf -- '-n../secret' | xargs head",
    ],
)
async def test_a_name_that_leads_out_or_holds_secrets_is_left_out(line: str, folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent / "secret")
    (folder / ".env").write_text("secret\n")

    result = await run(folder, line)

    assert "secret\n" not in result.stdout
    assert "left out" in result.stderr or result.refused or "No such file" in result.stderr


async def test_a_name_is_never_an_option(folder: Path) -> None:
    for name in ("-r", "--help", "-i"):
        (folder / name).write_text("plain\n")

    shown = await run(folder, "find . -maxdepth 1 -name '-*' | xargs cat")
    piped = await run(folder, "ls | grep '^-' | xargs cat")
    looped = await run(folder, 'for f in -*; do cat "$f"; done')

    assert [result.stdout for result in (shown, piped, looped)] == ["plain\n" * 3] * 3


async def test_what_arrives_cannot_become_a_script(folder: Path) -> None:
    for line in ("echo '1e id' | xargs sed", "echo 'w made' | xargs -I{} sed {} a.txt"):
        result = await run(folder, line)
        assert result.refused or "left out" in result.stderr
    assert not (folder / "made").exists()


async def test_what_git_shows_of_submodules_and_settings_comes_from_the_view(
    folder: Path,
) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)

    git("init", "-q")
    git("config", "remote.origin.url", "https://user:token@example.invalid/x.git")
    git("config", "http.extraheader", "Authorization: secret")
    commit = "1" * 40
    git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    git("config", "core.fsmonitor", "touch made")

    assert (await run(folder, "git submodule status")).stdout == f" {commit} sub\n"
    listed = (await run(folder, "git config --list --show-origin")).stdout
    assert "remote.origin.url=https://example.invalid/x.git" in listed
    assert not any(word in listed for word in ("token", "secret", "fsmonitor"))
    assert (await run(folder, "git -C src status --short")).stdout.startswith("A")
    assert not (folder / "made").exists()


async def test_a_version_is_asked_of_a_program_outside_the_project_and_in_an_empty_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (folder / "bin", tmp_path / "tools"):
        place.mkdir()
        program = place / "zig"
        program.write_text(f"#!/bin/sh\necho {place.name} $(ls -A)\n")
        program.chmod(0o755)
    monkeypatch.setenv(
        "PATH", os.pathsep.join([str(folder / "bin"), "bin", str(tmp_path / "tools")])
    )

    result = await run(folder, "zig --version")

    assert result.stdout == "tools\n"
