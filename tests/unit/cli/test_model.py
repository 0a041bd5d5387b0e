"""`ragforge model` shows what can answer, tries what is chosen, and keeps it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ragforge.app.features.model_choice import Installation, ModelPlace, ModelTest
from ragforge.config import Settings
from ragforge.errors import ModelUnavailable
from tests.unit.cli.conftest import Ragforge

PLACES = [
    ModelPlace("ollama", True, True, ("ollama:qwen3", "ollama:llama3")),
    ModelPlace("openai", False, False, ("openai:gpt-5-mini",)),
    ModelPlace("vllm", True, False),
]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "user.yaml"
    path.write_text("# mine\n")
    monkeypatch.setenv("RAGFORGE_CONFIG", str(path))

    async def find() -> list[ModelPlace]:
        return PLACES

    async def ask(settings: Settings, name: str) -> ModelTest:
        if name == "ollama:gone":
            raise ModelUnavailable("http://127.0.0.1:11434 cannot be reached")
        return ModelTest(name, "ready", 0.5)

    monkeypatch.setattr("ragforge.cli.commands.model.find_models", find)
    monkeypatch.setattr("ragforge.cli.commands.model.try_model", ask)
    return path


def test_the_list_names_what_is_ready_and_what_is_missing(ragforge: Ragforge, file: Path) -> None:
    shown = ragforge("model")
    assert shown.out.splitlines() == ["  1  ollama:qwen3", "  2  ollama:llama3"]
    assert "No chat model answers yet." in shown.err
    assert "Available with a key: openai (OPENAI_API_KEY)." in shown.err
    assert "Not running on this machine: vllm." in shown.err
    listed = json.loads(ragforge("model", "--json").out)
    assert listed["model"] == "none"
    assert listed["services"][0]["models"] == ["ollama:qwen3", "ollama:llama3"]


def test_a_model_is_tried_and_kept(ragforge: Ragforge, file: Path) -> None:
    shown = ragforge("model", "ollama:qwen3")
    assert shown.code == 0
    assert "ollama:qwen3 answered 'ready' after 0.5 s." in shown.err
    assert file.read_text() == "# mine\nllm:\n  model: ollama:qwen3\n"
    assert ragforge("model", "none").code == 0
    assert file.read_text() == "# mine\nllm:\n  model: none\n"


def test_a_model_that_does_not_answer_is_not_kept(ragforge: Ragforge, file: Path) -> None:
    shown = ragforge("model", "ollama:gone")
    assert (shown.code, file.read_text()) == (1, "# mine\n")
    assert "cannot be reached" in shown.err
    assert ragforge("model", "ollama:gone", "--no-test").code == 0
    assert "ollama:gone" in file.read_text()
    assert "is not a model" in ragforge("model", "gpt").err


def test_a_model_is_named_for_one_command(ragforge: Ragforge, file: Path) -> None:
    shown = ragforge("config", "show", "--json", "--model", "ollama:qwen3")
    setting = json.loads(shown.out)["settings"]["llm.model"]
    assert (setting["value"], setting["origin"]) == ("ollama:qwen3", "--model")
    assert ragforge("--model", "gpt", "config", "show").code == 2


def test_a_missing_library_is_installed_when_that_is_wanted(
    ragforge: Ragforge, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "installed"
    missing = Installation("openai", (sys.executable, "-c", f"open({str(made)!r}, 'w')"))
    monkeypatch.setattr("ragforge.cli.commands.model.plan_installation", lambda model: missing)

    assert ragforge("model", "ollama:qwen3").code == 0  # no user is there to be asked
    assert not made.exists()
    assert ragforge("model", "ollama:qwen3", "--install").code == 0
    assert made.exists()
