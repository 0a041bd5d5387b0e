"""Contributing: the files that CONTRIBUTING.md names for a task are there, each in its place."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from ragforge.brain.languages.table import ROWS

ROOT = Path(__file__).parents[2]
TASKS = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## Five tasks", 1)[1]
PATHS = sorted(set(re.findall(r"`((?:src|tests|docs)/[^`]*|pyproject\.toml)`", TASKS)))
SOURCE = ROOT / "src" / "ragforge"


@pytest.mark.parametrize("path", [path for path in PATHS if "<" not in path])
def test_a_file_to_change_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("path", [path for path in PATHS if "<" in path])
def test_a_file_to_write_has_others_next_to_it(path: str) -> None:
    assert list(ROOT.glob(re.sub(r"<\w+>", "*", path)))


def test_every_prompt_belongs_to_a_tool_in_a_module_that_the_toolbox_knows() -> None:
    toolbox = (SOURCE / "tools" / "toolbox.py").read_text("utf-8")
    modules = set(re.findall(r"from ragforge\.tools\.(\w+) import", toolbox)) | {"batch_analyze"}
    code = "".join((SOURCE / "tools" / f"{name}.py").read_text("utf-8") for name in modules)
    prompts = {file.stem for file in (SOURCE / "tools" / "prompts").glob("*.md")}

    assert prompts
    assert {name for name in prompts if f'"{name}"' not in code} == set()


def test_every_language_with_scopes_has_its_file() -> None:
    files = {row.value.split(":")[0].lstrip(".") for row in ROWS if row.value}

    assert files
    assert {
        name for name in files if not (SOURCE / "brain/languages" / f"{name}.py").is_file()
    } == set()


def test_every_store_is_chosen_by_the_application() -> None:
    engines = {file.parent.name for file in (SOURCE / "adapters" / "stores").glob("*/store.py")}
    chosen = (SOURCE / "app" / "wiring" / "stores.py").read_text("utf-8")

    assert engines >= {"sqlite", "neo4j"}
    assert {name for name in engines if f"open_{name}" not in chosen} == set()


def test_every_room_has_its_layer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = {room for row in contracts["contracts"][0]["layers"] for room in row.split(" | ")}
    rooms = {file.parent.name for file in SOURCE.glob("*/__init__.py")} - {"adapters", "config"}

    assert rooms <= layers


def test_the_files_for_the_code_host_are_valid_and_name_what_exists() -> None:
    files = [*sorted((ROOT / ".github").rglob("*.yml")), ROOT / ".pre-commit-config.yaml"]
    texts = [file.read_text("utf-8") for file in files]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    owned = re.findall(r"^/(\S+)", (ROOT / ".github" / "CODEOWNERS").read_text("utf-8"), re.M)

    assert all(isinstance(yaml.safe_load(text), dict) for text in texts)
    called = {name for text in texts for name in re.findall(r"run: make ([a-z-]+)", text)}
    assert called
    assert called <= targets
    assert [path for path in owned if not (ROOT / path).exists()] == []
