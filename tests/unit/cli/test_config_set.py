"""`ragforge config set` and `unset` change the user's own file, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Ragforge


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "user.yaml"
    path.write_text("# mine\nllm:\n  thinking: low\n")
    monkeypatch.setenv("RAGFORGE_CONFIG", str(path))
    return path


def test_a_setting_is_set_and_unset(ragforge: Ragforge, file: Path) -> None:
    before = file.read_text()
    shown = ragforge("config", "set", "hook.budget", "6000")
    assert shown.code == 0
    assert f"hook.budget is 6000, from {file}." in shown.err
    assert file.read_text() == before + "hook:\n  budget: 6000\n"
    assert ragforge("config", "set", "llm.model", "openai:gpt-5-mini").code == 0
    assert "  model: openai:gpt-5-mini\n" in file.read_text()
    assert "hook.budget is 4000, from default" in ragforge("config", "unset", "hook.budget").err
    assert "budget" not in file.read_text()


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("hook.budget", "many", "hook.budget"),
        ("hook.bugdet", "6000", "hook.budget"),
        ("llm.model", "gpt", "llm.model"),
    ],
)
def test_what_is_wrong_changes_nothing(
    ragforge: Ragforge, file: Path, key: str, value: str, problem: str
) -> None:
    before = file.read_text()
    shown = ragforge("config", "set", key, value)
    assert shown.code != 0
    assert problem in shown.err
    assert file.read_text() == before


def test_a_file_that_is_written_in_another_way_is_left_alone(
    ragforge: Ragforge, file: Path
) -> None:
    file.write_text("llm: {thinking: low}\n")
    shown = ragforge("config", "set", "llm.model", "none")
    assert shown.code == 1
    assert "Set llm.model there by hand." in shown.err
    assert file.read_text() == "llm: {thinking: low}\n"


def test_a_variable_that_overrides_is_named(
    ragforge: Ragforge, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGFORGE_HOOK__BUDGET", "5000")
    shown = ragforge("config", "set", "hook.budget", "6000")
    assert "RAGFORGE_HOOK__BUDGET overrides it" in shown.err
