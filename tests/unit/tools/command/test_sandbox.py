"""Sandbox: what bubblewrap is told, and that it is only used where it works."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.tools.command import sandbox
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.command.sandbox import find_bwrap, prefix


def test_only_the_programs_own_home_can_be_written_and_there_is_no_network() -> None:
    words = prefix("/usr/bin/bwrap", ["/work/project"], "/tmp/home", "/work/project/src")
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
    words = prefix("bwrap", [project], "/tmp/home", project)
    assert words.index("--tmpfs") < words.index(project)
    assert words[words.index("--tmpfs") + 1] == str(tmp_path)


def test_a_bubblewrap_that_does_not_work_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sandbox, "find_program", lambda name, root: str(broken))
    assert find_bwrap(str(tmp_path / "one")) is None
    monkeypatch.setattr(sandbox, "find_program", lambda name, root: None)
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
    monkeypatch.setattr("ragforge.tools.command.run.find_bwrap", lambda root: str(stand_in))
    result = await CommandRunner(project).run("cat a.txt | wc -l")
    assert result.stdout.strip() == "3"
    assert result.stderr == "in the sandbox\n" * 2


@pytest.mark.skipif(find_bwrap("/nowhere") is None, reason="bubblewrap does not work here")
async def test_the_real_bubblewrap_runs_commands(project: Path) -> None:
    assert (await CommandRunner(project).run("cat a.txt")).stdout == "b\na\nb\n"
