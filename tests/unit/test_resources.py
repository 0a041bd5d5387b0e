"""Resources: the texts of the package are there, and each of them is used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import ragforge
from ragforge.cli import main
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
    files = (PACKAGE / "cli" / "epilogs").rglob("*.md")
    written = {file.read_text("utf-8").replace("\\b\n", "\b\n") for file in files}
    shown = {command.epilog for command in list_commands(get_command(main.build_program()))}

    assert written
    assert written == shown - {None}


def list_commands(command: Any) -> Iterator[Any]:
    yield command
    for name in getattr(command, "commands", ()):
        yield from list_commands(command.get_command(None, name))
