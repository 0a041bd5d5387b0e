"""Missing grammars: code whose language is an extra is read as text, until it is installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from ragforge.app.features import extras
from ragforge.app.features.doctor import check_languages
from ragforge.brain.files.walk import SkippedFile
from ragforge.brain.languages import table
from ragforge.ports.store import Store
from tests.fakes.code import list_scopes
from tests.fakes.projects import LONG_AGO, ToyEmbedder, brain_of, set_time, write

LUA = "local Cart = {}\n\nfunction Cart.total(items)\n  return summarise(items)\nend\n"
PYTHON = "def total(items):\n    return sum(items)\n"


@pytest.fixture
def uninstall(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Hide a module, or none, from the search for grammars."""

    def hide(module: str) -> None:
        table.has_grammar.cache_clear()
        monkeypatch.setattr(
            table, "find_spec", lambda name: None if name == module else find_spec(name)
        )

    yield hide
    table.has_grammar.cache_clear()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    write(root, {"README.md": "# Cart\n", "cart.lua": LUA, "cart.py": PYTHON})
    for file in root.iterdir():
        set_time(file, LONG_AGO)
    return root


async def test_code_without_its_grammar_is_found_by_words_and_read_again_with_it(
    store: Store, root: Path, uninstall: Callable[[str], None]
) -> None:
    uninstall("tree_sitter_lua")
    brain = brain_of(store, root, ToyEmbedder())

    report, _ = await brain.ingest()

    assert report.reasons == {"no grammar": 1}
    scopes = await list_scopes(store, brain.project_id, "cart.lua")
    assert [scope.type for scope in scopes] == ["chunk"]
    assert scopes[0].language == "lua"
    [hit] = await brain.search("summarise", 1)
    assert hit.scope.file == "cart.lua"
    again, _ = await brain.ingest()
    assert (again.read, again.reasons) == (0, {"no grammar": 1})

    uninstall("none")
    report, _ = await brain.ingest()

    assert (report.read, report.reasons) == (1, {})
    names = {scope.name for scope in await list_scopes(store, brain.project_id, "cart.lua")}
    assert "total" in names
    report, _ = await brain.ingest()
    assert report.read == 0


def test_one_sentence_names_the_languages_the_files_and_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    left = [SkippedFile(path, "no grammar") for path in ("a.hs", "b.hs", "c.zig")]

    said = extras.describe_missing_grammars([*left, SkippedFile("d.py", "too large")])

    assert said == (
        "Read as plain text, without definitions and relations: 2 Haskell files, 1 Zig file; "
        "their grammars: pip install 'ragforge-agent[languages]'"
    )
    assert extras.describe_missing_grammars([SkippedFile("d.py", "too large")]) == ""


def test_the_command_is_that_of_the_program_that_installed_ragforge(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    python = sys.executable
    assert extras.choose_install_command("languages") == (
        f"{python} -P -m pip install 'ragforge-agent[languages]'"
    )

    receipt = tmp_path / "uv-receipt.toml"
    receipt.write_text('[tool]\nrequirements = [{ name = "ragforge-agent", extras = ["mcp"] }]\n')
    assert extras.choose_install_command("languages") == (
        "uv tool install 'ragforge-agent[languages,mcp]'"
    )
    receipt.write_text("damaged")
    assert extras.choose_install_command("web") == "uv tool install 'ragforge-agent[web]'"

    (tmp_path / "pipx_metadata.json").write_text(json.dumps({}))
    assert extras.choose_install_command("languages") == (
        "pipx inject --force ragforge-agent 'ragforge-agent[languages]'"
    )


def test_doctor_names_what_is_missing_and_reads_no_file(
    root: Path, uninstall: Callable[[str], None]
) -> None:
    assert check_languages(root).status == "ok"

    uninstall("tree_sitter_lua")
    check = check_languages(root)

    assert check.status == "warn"
    assert "1 Lua file" in check.detail
    assert "ragforge-agent[languages]" in check.remedy
