"""Distribution: every line that installs RagForge names the package that is RagForge."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import ragforge
from ragforge.app.features.extras import LANGUAGES
from ragforge.brain.languages.table import ROWS, find_language
from ragforge.domain.distribution import DISTRIBUTION, format_install_command
from scripts import distributions

ROOT = Path(__file__).parents[2]
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = CONFIGURATION["project"]
TABLE = ROOT / "src" / "ragforge" / "adapters" / "embedders" / "table"
EXTRAS = set(PROJECT["optional-dependencies"])
EXTRA = re.compile(rf"{DISTRIBUTION}\[([\w,]+)\]")
INSTALLS = re.compile(r"(?:pipx?|uv tool|uv pip) install (?:--?[\w-]+ )*'?([\w.-]*ragforge[\w-]*)")


def texts() -> list[Path]:
    return [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("src/**/*.py"),
        *ROOT.glob("src/**/*.md"),
    ]


def test_the_project_has_the_name_that_the_program_says() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    assert format_install_command("openai") == "pip install 'ragforge-agent[openai]'"


def test_every_line_that_installs_it_names_it_and_extras_that_it_has() -> None:
    named = {found for file in texts() for found in INSTALLS.findall(file.read_text("utf-8"))}
    lists = [found for file in texts() for found in EXTRA.findall(file.read_text("utf-8"))]

    assert named == {DISTRIBUTION}
    assert lists
    assert {extra for some in lists for extra in some.split(",")} <= EXTRAS


def test_the_table_of_the_bundled_model_is_part_of_the_package_with_its_origin() -> None:
    targets = CONFIGURATION["tool"]["hatch"]["build"]["targets"]
    files = [TABLE / name for name in ("pieces.txt", "vectors.npy", "scales.npy", "README.md")]
    ignored = subprocess.run(
        ["git", "check-ignore", *map(str, files)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert all(file.is_file() for file in files)
    assert ignored.stdout == "", "what git ignores is left out of a wheel"
    assert sum(file.stat().st_size for file in files) < 40_000_000
    assert targets["wheel"]["packages"] == ["src/ragforge"]
    assert {"/src", "/NOTICE"} <= set(targets["sdist"]["include"])
    assert "NOTICE" in PROJECT["license-files"]
    for origin in ("WordLlama", "all-MiniLM-L6-v2", "Apache License", "MIT License"):
        assert origin in (ROOT / "NOTICE").read_text("utf-8")


def test_every_text_that_the_program_reads_is_part_of_the_package() -> None:
    shown = subprocess.run(
        ["git", "ls-files", "--others", "--ignored", "--exclude-standard", "src/ragforge"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    ignored = [name for name in shown.stdout.splitlines() if not name.endswith(".pyc")]
    assert ignored == [], "what git ignores is left out of a wheel"


def test_every_file_that_names_the_version_names_this_one() -> None:
    editor = json.loads((ROOT / "editors/vscode/package.json").read_text("utf-8"))
    plugin = ROOT / "plugins/claude-code/.claude-plugin/plugin.json"
    named = {PROJECT["version"], editor["version"], json.loads(plugin.read_text())["version"]}

    assert named == {ragforge.__version__}
    for page in ("acp.md", "compare.md", "terminal.md"):
        assert ragforge.__version__ in (ROOT / "docs" / page).read_text("utf-8")


@pytest.mark.long
def test_a_build_of_another_copy_at_another_time_has_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        distributions.copy_tracked(tmp_path / name)

    first = distributions.build(tmp_path / "one", tmp_path / "first", "1700000000")
    for file in (tmp_path / "other").rglob("*"):
        file.chmod(0o755)
    second = distributions.build(tmp_path / "other", tmp_path / "second", "1700000000")

    assert first == second
    assert len(first) == 2
    for file in (tmp_path / "first").glob("ragforge_agent-*"):
        assert distributions.find_foreign(distributions.list_names(file)) == []


def test_what_belongs_into_no_distribution_is_found() -> None:
    names = ["ragforge/cli/main.py", "ragforge/x/__pycache__/main.pyc", "a/tests/test_x.py"]

    assert distributions.find_foreign(names) == names[1:]


def test_each_grammar_is_required_or_belongs_to_the_extra_of_rare_languages() -> None:
    required = {re.split(r"[^\w-]", line)[0] for line in PROJECT["dependencies"]}
    rare = {re.split(r"[^\w-]", line)[0] for line in PROJECT["optional-dependencies"][LANGUAGES]}
    languages = (find_language(row.name) for row in ROWS)
    grammars = {one.grammar.partition(":")[0].replace("_", "-") for one in languages if one}

    assert grammars <= required | rare
    assert rare == {
        f"tree-sitter-{name}" for name in ("elixir", "haskell", "lua", "scala", "swift", "zig")
    }
    assert LANGUAGES in PROJECT["optional-dependencies"]["all"][0]


def test_the_bundled_model_needs_no_third_party_package() -> None:
    required = {re.split(r"[^\w-]", line)[0].lower() for line in PROJECT["dependencies"]}
    locked = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text("utf-8"), re.M))

    for name in ("wordllama", "tokenizers", "safetensors", "huggingface-hub", "requests", "toml"):
        assert name not in required | locked
