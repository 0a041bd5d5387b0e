"""Modes in the terminal: Shift-Tab goes through them, and a plan is carried out when accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragforge.tools.command.sandbox.choose import explain_no_auto
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
    off = {"RAGFORGE_TOOLS__SANDBOX": "off"}  # so there is no auto mode
    async with model(*script) as server, ragforge(*mode, server=server, **off) as terminal:
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
        await terminal.prompt()
        terminal.type(f"/mode auto{ENTER}")
        await terminal.see("Auto mode needs a sandbox, but tools.sandbox is off.")
    assert not (project / "made.txt").exists()


@pytest.mark.skipif(
    explain_no_auto("/") != "", reason="NOT TESTED HERE: no sandbox for auto mode on this machine"
)
async def test_auto_mode_edits_and_runs_in_the_sandbox_and_asks_about_git(
    ragforge: Open, project: Path
) -> None:
    touch = Call("run_command", {"command": "touch src/made.txt"}, "call-2")
    clean = Call("run_command", {"command": "git clean -fdq"}, "call-3")
    script = (Says(calls=(EDIT, touch, clean)), Says("It is mended."))
    mode = ("--mode", "accept-edits")
    async with model(*script) as server, ragforge(*mode, server=server) as terminal:
        await terminal.prompt("accept edits ❯")
        terminal.type(SHIFT_TAB)
        await terminal.prompt("auto ❯")
        terminal.type(f"Mend the login{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        shown = "\n".join(terminal.scrollback)
        assert "git clean -fdq" in shown
        assert "Change src/login.py?" not in shown
        assert (project / "src" / "login.py").read_text() == MENDED
        assert (project / "src" / "made.txt").exists()
        terminal.type(f"n{ENTER}")
        await terminal.see("It is mended.")
        await terminal.prompt("auto ❯")
        terminal.type(SHIFT_TAB)
        await terminal.prompt()
    assert (project / "src" / "made.txt").exists()


async def test_what_a_hook_blocks_is_seen_by_the_user(
    ragforge: Open, home: Path, project: Path
) -> None:
    guard = {"event": "before_tool", "command": "echo 'The login stays.' >&2; exit 2"}
    privacy = {"event": "prompt", "command": "grep -q sesame && exit 2; exit 0"}
    hooks = {"guard": {**guard, "tools": "edit_file"}, "privacy": privacy}
    (home / "user.yaml").write_text(json.dumps({"agent": {"hooks": hooks}}))
    script = (Says(calls=(EDIT,)), Says("I may not."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"My word is sesame{ENTER}")
        await terminal.see("The hook privacy blocked this.")
        await terminal.prompt()
        terminal.type(f"Mend the login{ENTER}")
        await terminal.see("The hook guard blocked this: The login stays.")
        await terminal.see("I may not.")
        await terminal.prompt()
        assert "Allow?" not in "\n".join(terminal.scrollback)
        assert len(server.asked_in_turns) == 2
    assert (project / "src" / "login.py").read_text() == LOGIN
