"""Resources: the texts of the package are there, and each of them is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ragforge
from ragforge.resources import read_resource

PACKAGE = Path(ragforge.__file__).parent


def test_a_text_is_read_once() -> None:
    first = read_resource("llm/prompts/one.md")

    assert first
    assert read_resource("llm/prompts/one.md") is first


def test_a_text_that_is_not_there_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.md"):
        read_resource("llm/prompts/none.md")


def test_every_query_belongs_to_a_language() -> None:
    folder = PACKAGE / "brain" / "languages"
    code = "".join(file.read_text("utf-8") for file in folder.glob("*.py"))
    names = [f"{file.parent.name}/{file.stem}" for file in (folder / "queries").glob("*/*")]

    assert names
    assert [name for name in names if f'"{name}"' not in code] == []


def test_every_epilog_belongs_to_a_command() -> None:
    folder = PACKAGE / "cli"
    code = "".join(file.read_text("utf-8") for file in folder.rglob("*.py"))
    epilogs = folder / "epilogs"
    files = {file.relative_to(epilogs).with_suffix("").as_posix() for file in epilogs.rglob("*.md")}

    assert files == set(re.findall(r'epilog="([\w/-]+)"', code))
