"""Keys at the prompt: what fingers expect of Enter, Esc, Ctrl-C and vi."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.terminal import BACKSPACE, CTRL_C, CTRL_D, ENTER, ESCAPE, Terminal
from tests.fakes.wires import Says
from tests.screens.conftest import Open, model


async def test_enter_runs_the_first_command_of_the_menu(ragforge: Open) -> None:
    async with ragforge(size=(40, 100)) as terminal:
        await terminal.prompt()
        terminal.type(f"/he{ENTER}")
        await terminal.see("❯ /help")
        await terminal.see("All commands and keys")
        await terminal.prompt()
        assert "There is no command" not in "\n".join(terminal.scrollback)


async def test_esc_twice_at_an_empty_prompt_offers_to_rewind(ragforge: Open) -> None:
    async with model(Says("In src.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.see("In src.")
        await terminal.prompt()
        terminal.type(ESCAPE + ESCAPE)
        await terminal.on_screen("1 of 1  Enter returns to before it, Esc leaves")
        terminal.type(ESCAPE)
        await terminal.see("Nothing was rewound.")
        await terminal.prompt()


async def test_any_key_after_ctrl_c_keeps_the_terminal_open(ragforge: Open) -> None:
    async with ragforge() as terminal:
        await terminal.prompt()
        terminal.type(CTRL_C)
        await terminal.see("Ctrl-C again, or Ctrl-D, quits.")
        await terminal.prompt()
        terminal.type("x")
        await terminal.on_screen("❯ x")
        terminal.type(BACKSPACE)
        await terminal.prompt()
        terminal.type(CTRL_C)
        await terminal.see("Ctrl-C again, or Ctrl-D, quits.", 2)
        await terminal.prompt()
        terminal.type(CTRL_D)
        assert await terminal.ended() == 0


async def test_vi_keys_edit_the_input_if_the_user_wants_them(ragforge: Open) -> None:
    async with ragforge(RAGFORGE_TERMINAL__EDITING="vi") as terminal:
        await terminal.prompt()
        terminal.type("one two")
        await terminal.on_screen("❯ one two")
        terminal.type(f"{ESCAPE}0dw")
        await terminal.on_screen("❯ two")
        terminal.type("ione ")
        await terminal.on_screen("❯ one two")


@pytest.mark.parametrize("editing", ["emacs", "vi"])
async def test_ctrl_x_ctrl_e_edits_the_input_in_the_users_editor(
    ragforge: Open, home: Path, editing: str
) -> None:
    editor = home / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/two/2/' \"$1\"\n")
    editor.chmod(0o700)
    async with ragforge(EDITOR=str(editor), RAGFORGE_TERMINAL__EDITING=editing) as terminal:
        await terminal.prompt()
        terminal.type("one two\x18\x05")
        await terminal.on_screen("❯ one 2")


async def test_a_narrower_window_leaves_one_rule_above_and_below_the_input(ragforge: Open) -> None:
    async with ragforge(size=(30, 120)) as terminal:
        await terminal.prompt()
        terminal.type("a question")
        await terminal.on_screen("❯ a question")
        above = terminal.lines[: terminal.lines.index("─" * 120)]
        for columns in (80, 60):
            terminal.resize(columns)
            rules = ["─" * columns] * 2
            await terminal.until(lambda want=rules: find_rules(terminal) == want, "two rules")
        shown = "".join("".join(terminal.scrollback).split())
        assert "".join("".join(above).split()) in shown  # blanks at a line's end are not kept


def find_rules(terminal: Terminal) -> list[str]:
    return [line for line in terminal.lines if line.startswith("─")]
