"""`ragforge permissions`: rules of this project, kept where the project cannot reach them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragforge.cli.main import run


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("RAGFORGE_AGENT__STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("RAGFORGE_STORE", str(tmp_path / "store.db"))
    return project


def rules(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    capsys.readouterr()
    assert run(["permissions", "list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["rules"]
    return [(rule["effect"], rule["rule"]) for rule in found]


def test_rules_are_added_listed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["permissions", "allow", "edit_file(src/**)"]) == 0
    assert run(["permissions", "deny", "run_command(git push *)"]) == 0
    assert rules(capsys) == [("deny", "run_command(git push *)"), ("allow", "edit_file(src/**)")]

    assert run(["permissions", "remove", "edit_file(src/**)"]) == 0
    assert rules(capsys) == [("deny", "run_command(git push *)")]


def test_a_directory_of_the_project_has_the_rules_of_the_project(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["permissions", "allow", "edit_file(**)"])
    (here / "src").mkdir()
    monkeypatch.chdir(here / "src")
    assert rules(capsys) == [("allow", "edit_file(**)")]
    monkeypatch.chdir(here.parent)
    assert rules(capsys) == []


def test_an_invalid_rule_is_an_error_that_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["permissions", "allow", "make"]) == 1
    assert "is not a rule" in capsys.readouterr().err
    assert run(["permissions", "remove", "edit_file(x)"]) == 1
    assert "There is no rule" in capsys.readouterr().err
