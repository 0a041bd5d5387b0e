"""`ragforge check-command`: decisions without execution."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Ragforge


def test_a_read_only_line_is_allowed(ragforge: Ragforge) -> None:
    shown = ragforge("check-command", "git log --oneline -5")
    assert (shown.code, shown.out) == (0, "allowed\n")


def test_a_line_that_writes_is_refused_with_the_reason_and_not_run(
    ragforge: Ragforge, project: Path
) -> None:
    shown = ragforge("check-command", "touch marker")
    assert (shown.code, shown.out) == (1, "refused: the program 'touch' is not on the list\n")
    assert not (project / "marker").exists()


def test_json_tells_what_would_run(ragforge: Ragforge) -> None:
    shown = ragforge("check-command", "--json", "ls -la | wc -l")
    assert json.loads(shown.out) == {
        "command": "ls -la | wc -l",
        "allowed": True,
        "reason": None,
        "runs": [[["ls", "-l", "-a"], ["wc", "-l"]]],
    }
    refused = json.loads(ragforge("check-command", "--json", "rm x").out)
    assert refused["allowed"] is False
    assert refused["runs"] is None


def test_lines_are_read_from_stdin(ragforge: Ragforge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ls\n\nrm x\n")))
    shown = ragforge("check-command", "--stdin", "--json")
    decided = json.loads(shown.out)["commands"]
    assert [(each["command"], each["allowed"]) for each in decided] == [
        ("ls", True),
        ("rm x", False),
    ]
    assert shown.code == 1
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ls\n")))
    shown = ragforge("check-command", "--stdin")
    assert (shown.code, shown.out) == (0, "ls\n  allowed\n")


def test_one_line_or_stdin_is_needed(ragforge: Ragforge) -> None:
    assert ragforge("check-command").code == 2
    assert ragforge("check-command", "--stdin", "ls").code == 2


def test_paths_are_relative_to_the_working_directory(
    ragforge: Ragforge, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    assert ragforge("check-command", "cat ../README.md").code == 0
    assert ragforge("check-command", "cat ../../secret").code == 1
    assert ragforge("check-command", "--root", ".", "cat ../README.md").code == 1


def test_what_could_steer_the_terminal_is_not_shown(ragforge: Ragforge) -> None:
    shown = ragforge("check-command", "'\x1b]0;x\x07' y")
    assert "\x1b" not in shown.out
