"""What runs is rebuilt from what was understood: it must do what the line does in a shell."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ragforge.tools.command.decide import decide
from ragforge.tools.command.plan import Allowed
from ragforge.tools.command.run import CommandRunner
from tests.conftest import Effort
from tests.unit.tools.command.everyday_lines import EVERYDAY, NOT_EVERYWHERE

pytestmark = pytest.mark.skipif(
    os.name != "posix" or not shutil.which("bash"), reason="there is no bash to compare with"
)
AS_ALWAYS = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_PAGER": "cat",
    "GIT_AUTHOR_DATE": "2024-05-01T10:00:00+02:00",
    "GIT_COMMITTER_DATE": "2024-05-01T10:00:00+02:00",
}


@pytest.fixture
def history(project: Path) -> Path:
    """The project with two commits, a tag, a branch, a stash and a new file."""

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=project, env=AS_ALWAYS, check=True, capture_output=True)

    (project / "tests").mkdir()
    (project / "tests" / "test_app.py").write_text("def test():\n    pass\n")
    (project / "a.txt").write_text("b hello 3\na,x:1 5\nb hello 7\nfoo start\nmid\nend\n")
    (project / "b.txt").write_text("a,x:1 5\nb hello 3\nz\n")
    (project / "README.md").write_text("# Readme\n\nhello world, and more than forty letters\n")
    git("-c", "init.defaultBranch=main", "init")
    git("config", "user.name", "Jane")
    git("config", "user.email", "jane@example.invalid")
    git("add", ".")
    git("commit", "-m", "one")
    (project / "a.txt").write_text((project / "a.txt").read_text() + "more\n")
    git("commit", "-am", "fix two")
    git("tag", "v1.0")
    git("branch", "dev")
    (project / "b.txt").write_text("changed\n")
    git("stash")
    (project / "new.txt").write_text("new\n")
    return project


def test_there_are_enough_everyday_lines() -> None:
    assert len(set(EVERYDAY)) >= 200


async def test_an_everyday_line_does_what_it_does_in_a_shell(history: Path, effort: Effort) -> None:
    runner = CommandRunner(history)
    wrong = []
    for line in EVERYDAY[:: effort(3, 1)]:
        ours = await runner.run(line)
        theirs = subprocess.run(
            ["bash", "-c", line],
            cwd=history,
            env=AS_ALWAYS,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        expected = theirs.stdout.decode(errors="replace")
        if (ours.stdout, ours.exit_code) != (expected, theirs.returncode):
            wrong.append((line, ours, expected, theirs.returncode))
    assert wrong == []


@pytest.mark.parametrize("lines", [EVERYDAY, NOT_EVERYWHERE], ids=["everyday", "not everywhere"])
def test_everyday_lines_are_allowed(lines: list[str], project: Path) -> None:
    refused = [line for line in lines if not isinstance(decide(line, str(project)), Allowed)]
    assert refused == []
