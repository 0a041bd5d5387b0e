"""Modes in the terminal: Shift-Tab goes through them, and a plan is carried out when accepted."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.terminal import ENTER
from tests.fakes.wires import Call, Says
from tests.screens.conftest import LOGIN, Open, model

SHIFT_TAB = "\x1b[Z"
MENDED = LOGIN.replace("check(user)", "check(user.name)")
EDIT = Call(
    "edit_file",
    {"path": "src/login.py", "old_text": "check(user)", "new_text": "check(user.name)"},
)
COMMAND = Call("run_command", {"command": "touch made.txt"}, "call-2")


async def test_shift_tab_plans_and_an_accepted_plan_is_carried_out(
    ragforge: Open, project: Path
) -> None:
    script = (
        Says(calls=(COMMAND,)),
        Says("1. Compare the name."),
        Says(calls=(EDIT,)),
        Says("It is mended."),
    )
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type("Mend the ")
        terminal.type(SHIFT_TAB)
        await terminal.on_screen("plan ❯ Mend the")
        assert terminal.style_of("plan ❯").fg == "brown"
        terminal.type(f"login{ENTER}")
        await terminal.see("Compare the name.")
        await terminal.see("Nothing was changed. /accept carries out this plan")
        await terminal.prompt("plan ❯")
        first, second = server.asked_in_turns
        assert "Plan mode is on: this turn only reads." in first.text
        assert "Plan mode is on: nothing is changed" in second.text
        assert "Allow?" not in "\n".join(terminal.scrollback)
        terminal.type(f"/accept{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        assert (project / "src" / "login.py").read_text() == LOGIN
        terminal.type(f"y{ENTER}")
        await terminal.see("It is mended.")
        await terminal.prompt()
        asked = server.asked_in_turns[2].text
        assert "Carry out the plan." in asked
        assert "1. Compare the name." in asked
    assert (project / "src" / "login.py").read_text() == MENDED
    assert not (project / "made.txt").exists()


async def test_accepted_edits_are_made_and_shown_without_a_question(
    ragforge: Open, project: Path
) -> None:
    script = (Says(calls=(EDIT, COMMAND)), Says("It is mended."))
    mode = ("--mode", "accept-edits")
    async with model(*script) as server, ragforge(*mode, server=server) as terminal:
        await terminal.prompt("accept edits ❯")
        terminal.type(f"Mend the login{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        shown = "\n".join(terminal.scrollback)
        assert "Change src/login.py?" not in shown
        assert "Run a command?" in shown
        assert (project / "src" / "login.py").read_text() == MENDED
        terminal.type(f"n{ENTER}")
        await terminal.see("It is mended.")
        await terminal.see("    2 +     return check(user.name)")
        await terminal.prompt("accept edits ❯")
        terminal.type(SHIFT_TAB)
        await terminal.prompt()
        terminal.type(f"/accept{ENTER}")
        await terminal.see("There is no plan to accept")
        terminal.type(f"/mode{ENTER}")
        await terminal.see("▸ ask")
    assert not (project / "made.txt").exists()
