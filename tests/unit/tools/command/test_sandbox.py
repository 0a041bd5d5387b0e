"""Sandbox: how bubblewrap is called, and that it is only used where it works."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import psutil
import pytest

from ragforge.tools.command.run import CommandRunner
from ragforge.tools.command.sandbox import choose
from ragforge.tools.command.sandbox.choose import (
    Sandbox,
    allow_reading,
    build_bubblewrap_prefix,
    find_bwrap,
)


def test_only_the_programs_own_home_can_be_written_and_there_is_no_network() -> None:
    policy = allow_reading(["/work/project"], "/tmp/home", "/work/project/src", "/work/project")
    words = build_bubblewrap_prefix("/usr/bin/bwrap", policy)
    assert words[0] == "/usr/bin/bwrap"
    assert words[-1] == "--"
    assert "--unshare-all" in words
    assert "--die-with-parent" in words
    assert "--share-net" not in words
    writable = [words[i + 1] for i, word in enumerate(words) if word == "--bind"]
    assert writable == ["/tmp/home"]
    assert words[words.index("--chdir") + 1] == "/work/project/src"


def test_the_users_home_is_hidden_before_the_project_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    project = str(tmp_path / "project")
    words = build_bubblewrap_prefix(
        "bwrap", allow_reading([project], "/tmp/home", project, project)
    )
    hidden = words.index(str(tmp_path))
    assert words[hidden - 1] == "--tmpfs"
    assert hidden < words.index(project)


def test_a_bubblewrap_that_does_not_work_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(choose, "find_program", lambda name, root: str(broken))
    assert find_bwrap(str(tmp_path / "one")) is None
    monkeypatch.setattr(choose, "find_program", lambda name, root: None)
    assert find_bwrap(str(tmp_path / "two")) is None


async def test_commands_go_through_bubblewrap_where_it_works(
    monkeypatch: pytest.MonkeyPatch, project: Path, tmp_path: Path
) -> None:
    """A stand-in takes the place of bubblewrap: it drops what is before -- and runs the rest."""
    stand_in = tmp_path / "bwrap"
    stand_in.write_text(
        '#!/bin/sh\nfor word; do shift; [ "$word" = -- ] && break; done\n'
        'echo "in the sandbox" >&2\nexec "$@"\n'
    )
    stand_in.chmod(0o755)
    found = Sandbox("bubblewrap", program=str(stand_in))
    monkeypatch.setattr("ragforge.tools.command.run.find_sandbox", lambda root, mode: found)
    result = await CommandRunner(project).run("cat a.txt | wc -l")
    assert result.stdout.strip() == "3"
    assert result.stderr == "in the sandbox\n" * 2


BWRAP = find_bwrap(os.getcwd())
really = pytest.mark.skipif(BWRAP is None, reason="bubblewrap does not work here")


def inside(script: str, project: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a script that no command line could: the sandbox holds even if the decider failed."""
    policy = allow_reading([str(project)], str(home), str(project), str(project))
    words = build_bubblewrap_prefix(str(BWRAP), policy)
    return subprocess.run(
        [*words, "/bin/sh", "-c", script],
        env={"PATH": "/usr/bin:/bin", "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "own home"
    place.mkdir()
    return place


@really
async def test_the_real_bubblewrap_runs_commands(project: Path) -> None:
    runner = CommandRunner(project)

    assert (await runner.run("cat a.txt | sort -u")).stdout == "a\nb\n"
    assert (await runner.run("rg -n main src")).stdout == "src/app.py:1:def main():\n"
    assert (await runner.run("cat missing.txt")).exit_code == 1


@really
async def test_git_looks_at_its_repository_in_the_sandbox(project: Path) -> None:
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=project, check=True)

    result = await CommandRunner(project).run("git status --short")

    assert result.stdout.splitlines()[0] == "A  README.md"


@really
@pytest.mark.parametrize("place", ["here.txt", "../beside.txt", "/usr/made.txt", "/made.txt"])
def test_nothing_can_be_written_in_the_sandbox(project: Path, home: Path, place: str) -> None:
    result = inside(f"echo x > {place}", project, home)

    assert "Read-only file system" in result.stderr
    assert not (project / place).exists()


@really
def test_its_own_home_can_be_written(project: Path, home: Path) -> None:
    assert inside('echo x > "$HOME/made.txt"', project, home).returncode == 0
    assert (home / "made.txt").read_text() == "x\n"


@really
def test_the_users_home_is_empty_in_the_sandbox_except_for_the_project(
    monkeypatch: pytest.MonkeyPatch, project: Path, home: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    result = inside(f"ls {tmp_path}; cat {tmp_path}/secret", project, home)

    assert result.stdout.splitlines() == ["own home", "project"]
    assert "No such file" in result.stderr


@really
def test_there_is_no_network_in_the_sandbox(project: Path, home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = f":{server.getsockname()[1]:04X}"
        outside = Path("/proc/net/tcp").read_text()
        seen = inside("cat /proc/net/tcp /proc/net/dev", project, home).stdout

    assert port in outside
    assert port not in seen
    assert [line.split(":")[0].strip() for line in seen.splitlines() if ":" in line] == ["lo"]


@really
def test_no_other_process_can_be_seen_in_the_sandbox(project: Path, home: Path) -> None:
    seen = inside("ls /proc", project, home).stdout.split()

    assert str(os.getpid()) not in seen


@really
async def test_a_command_that_takes_too_long_ends_with_all_it_started(project: Path) -> None:
    before = set(psutil.Process().children(recursive=True))

    result = await CommandRunner(project).run("seq 1 999999999 | wc -l", timeout=0.5)

    assert result.timed_out
    started = set(psutil.Process().children(recursive=True)) - before
    assert [child for child in started if child.status() != psutil.STATUS_ZOMBIE] == []
