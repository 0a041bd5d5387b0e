"""A marked block is put at the end of a TOML file, and taken out again."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ragforge.connect.config_file import TomlFile
from ragforge.errors import InputError

FILE = TomlFile(Path("config.toml"), '[mcp_servers.ragforge]\ncommand = "ragforge"\nargs = ["mcp"]')
HOOKS = TomlFile(Path("config.toml"), '[[hooks]]\nevent = "Stop"\ncommand = "ragforge hook"')


@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "x" # mine\n',
        '# only a comment\r\nmodel = "x"\r\n',
        "\ufeff[a]\nb = 1\n",
        "[mcp_servers.other]\ncommand = 'o'\n\n",
    ],
)
@pytest.mark.parametrize("file", [FILE, HOOKS], ids=["server", "hooks"])
def test_adding_twice_is_once_and_removing_restores_every_byte(file: TomlFile, text: str) -> None:
    added = file.add(text)

    assert file.add(added) == added
    assert file.remove(added) == text
    assert added.startswith(text)


def test_what_an_agent_adds_after_the_block_stays() -> None:
    text = FILE.add("a = 1\n") + '[projects."/x"]\ntrust = "yes"\n'

    assert tomllib.loads(FILE.remove(text)) == {"a": 1, "projects": {"/x": {"trust": "yes"}}}


def test_an_older_block_is_replaced() -> None:
    older = FILE.add("a = 1\n").replace('"ragforge"', '"/old/ragforge"')

    assert FILE.add(older) == FILE.add("a = 1\n")


@pytest.mark.parametrize(
    "text", ["a = = 1\n", '[mcp_servers.ragforge]\ncommand = "other"\n', "mcp_servers = 1\n"]
)
def test_what_cannot_take_the_block_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        FILE.add(text)
