"""Distribution: every line that installs RagForge names the package that is RagForge."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from ragforge.domain.distribution import DISTRIBUTION, format_install_command

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRA = re.compile(rf"{DISTRIBUTION}\[([\w,]+)\]")
INSTALLS = re.compile(
    r"(?:pip|pipx|uv tool|uv pip) install (?:--?[\w-]+ )*'?([\w.-]*ragforge[\w-]*)"
)
EXTRAS = set(PROJECT["optional-dependencies"])
EXTRA = re.compile(rf"{DISTRIBUTION}\[([\w,]+)\]")
INSTALLS = re.compile(r"(?:pipx?|uv tool|uv pip) install (?:--?[\w-]+ )*'?([\w.-]*ragforge[\w-]*)")


def texts() -> list[Path]:
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]


def test_the_project_has_the_name_that_the_program_says() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    assert format_install_command("openai") == "pip install 'ragforge-agent[openai]'"


def test_every_line_that_installs_it_names_it_and_extras_that_it_has() -> None:
    named = {found for file in texts() for found in INSTALLS.findall(file.read_text("utf-8"))}
    lists = [found for file in texts() for found in EXTRA.findall(file.read_text("utf-8"))]

    assert named == {DISTRIBUTION}
    assert lists
    assert {extra for some in lists for extra in some.split(",")} <= EXTRAS
