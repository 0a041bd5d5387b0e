"""Notes in the terminal: a line that begins with `#` is kept, and reaches later questions."""

from __future__ import annotations

from tests.fakes.terminal import ENTER
from tests.fakes.wires import Says
from tests.screens.conftest import Open, model

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


async def test_a_line_that_begins_with_a_hash_is_a_note_without_its_secrets(
    ragforge: Open,
) -> None:
    async with model(Says("A JDK.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"#{ENTER}")
        await terminal.see("Write what to remember after the #")
        await terminal.prompt()
        terminal.type(f"# The integration tests need Java, token {TOKEN}{ENTER}")
        await terminal.see("Remembered as ")
        await terminal.see("deletes it.")
        await terminal.prompt()
        shown = "\n".join(terminal.scrollback).partition("Remembered as ")[2]
        assert "  The integration tests need Java, token " in shown
        assert TOKEN not in shown
        assert server.asked_in_turns == []
        terminal.type(f"What do the integration tests need?{ENTER}")
        await terminal.see("A JDK.")
        await terminal.prompt()
        assert "The integration tests need Java" in server.asked_in_turns[0].text
        assert TOKEN not in server.asked_in_turns[0].text


async def test_a_hash_and_an_exclamation_mark_keep_a_rule(ragforge: Open) -> None:
    script = (Says("A heading."), Says("Twelve."), Says("Lines."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"#! Always use tabs.{ENTER}")
        await terminal.see("Remembered as a rule as ")
        await terminal.prompt()
        terminal.type(f"## What is this?{ENTER}")
        await terminal.see("A heading.")
        await terminal.prompt()
        terminal.type(f"#12 is broken, why?{ENTER}")
        await terminal.see("Twelve.")
        await terminal.prompt()
        terminal.paste("# Title\nand text")
        terminal.type(ENTER)
        await terminal.see("Lines.")
        assert "Always use tabs." in server.asked_in_turns[0].text
        assert "#12 is broken, why?" in server.asked_in_turns[1].text
        assert "# Title" in server.asked_in_turns[2].text
