"""Narrow terminals: everything is still there to be read."""

from __future__ import annotations

import pytest

from tests.fakes.terminal import ENTER
from tests.fakes.wires import Call, Says
from tests.screens.conftest import Open, model

PATH = "src/a-file-that-is-not-there/and-has-a-long-name.py"
ERROR = f"'{PATH}' cannot be read: there is no such file."
QUESTION = "Where is the login of the shop checked?"


@pytest.mark.parametrize("columns", [80, 60])
async def test_errors_lists_and_help_can_be_read_in_few_columns(
    ragforge: Open, columns: int
) -> None:
    script = (Says(calls=(Call("read_file", {"path": PATH}),)), Says("Nowhere."))
    async with model(*script) as server, ragforge(server=server, size=(40, columns)) as terminal:
        await terminal.prompt()
        terminal.type(f"{QUESTION}{ENTER}")
        await terminal.see("Nowhere.")
        await terminal.prompt()
        assert ERROR in " ".join(" ".join(terminal.scrollback).split())
        terminal.type(f"/expand list{ENTER}")
        await terminal.see("  1 ✗ read_file")
        await terminal.prompt()
        terminal.type(f"/rename {QUESTION}{ENTER}")
        await terminal.see("It is ")
        await terminal.prompt()
        terminal.type(f"/sessions{ENTER}")
        await terminal.see("Session   Started           Last active       Turns")
        await terminal.prompt()
        assert any(line.startswith(f"  {QUESTION}  Nowhere.") for line in terminal.lines)
        terminal.type(f"/help{ENTER}")
        await terminal.see("Ctrl-D")
        await terminal.prompt()
        shown = "\n".join(terminal.scrollback).partition("❯ /help")[2]
        commands = [line for line in shown.split("\n") if line and not line.startswith("─")]
        assert all(line.startswith("  ") for line in commands[:-2])
        assert all(len(line) <= columns for line in terminal.scrollback)
