"""Permission in the terminal: nothing is changed unasked, and the question stays readable."""

from __future__ import annotations

import re
from pathlib import Path

from tests.fakes.terminal import CTRL_C, DOWN, ENTER, ESCAPE
from tests.fakes.wires import Call, Says
from tests.screens.conftest import LOGIN, Open, model

MENDED = LOGIN.replace("check(user)", "check(user.name)")
EDIT = Call(
    "edit_file",
    {"path": "src/login.py", "old_text": "check(user)", "new_text": "check(user.name)"},
)
COMMAND = Call("run_command", {"command": "touch made.txt"})
DIFF = """\
│     2 -     return check(user)
│     2 +     return check(user.name)
"""


async def test_an_edit_shows_its_diff_and_waits_for_a_yes(ragforge: Open, project: Path) -> None:
    file = project / "src" / "login.py"
    script = (Says("I mend it.", calls=(EDIT,)), Says("It is mended."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Mend the login{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        assert file.read_text() == LOGIN
        assert DIFF in "\n".join(terminal.lines) + "\n"
        assert terminal.style_of("-     return check(user)").bg == "5f0000"
        assert terminal.style_of("+     return check(user.name)").bg == "005f00"
        assert "  1 y  yes, this once\n  2 a  always: edit_file(src/login.py)\n" in "\n".join(
            terminal.lines
        )
        terminal.type(f"?{ENTER}")  # no answer is chosen yet
        terminal.paste("y\n")
        terminal.type(DOWN)
        await terminal.on_screen("❯ 1 y  yes, this once")
        assert file.read_text() == LOGIN
        terminal.type("y")
        await terminal.see("It is mended.")
        await terminal.prompt()
        whole = "\n".join(terminal.scrollback)
        start = whole.index("Change src/login.py?")
        assert whole.index(DIFF) > start
        assert "\nAllowed once.\n✓ edit_file src/login.py  +1 −1" in whole
        assert "yes, this once" not in whole  # the answers are gone, the one given stays
        assert whole.count("+     return check(user.name)") == 1  # it was seen already
        assert file.read_text() == MENDED
        terminal.type(f"/undo{ENTER}")
        await terminal.see("src/login.py is as it was before.")
        assert file.read_text() == LOGIN


async def test_an_answer_is_chosen_with_the_arrows(ragforge: Open, project: Path) -> None:
    script = (Says(calls=(EDIT,)), Says("It is mended."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Mend the login{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        terminal.type(DOWN)
        await terminal.on_screen("❯ 1 y  yes, this once")
        terminal.type(DOWN)
        await terminal.on_screen("❯ 2 a  always: edit_file(src/login.py)")
        terminal.type(ENTER)
        await terminal.see("Allowed always: src/login.py.")
        await terminal.see("It is mended.")
    assert (project / "src" / "login.py").read_text() == MENDED


async def test_a_denial_may_include_a_message_for_the_model(ragforge: Open, project: Path) -> None:
    script = (Says(calls=(EDIT,)), Says("As you wish."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Mend the login{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        terminal.type("n")
        await terminal.on_screen("No. A reason for the model, then Enter")
        terminal.type(f"leave the login alone{ENTER}")
        await terminal.see("Denied: leave the login alone")
        await terminal.see("As you wish.")
        await terminal.prompt()
        assert "leave the login alone" in server.asked_in_turns[-1].text
    assert (project / "src" / "login.py").read_text() == LOGIN


async def test_esc_says_no_and_the_turn_continues(ragforge: Open, project: Path) -> None:
    script = (Says(calls=(EDIT,)), Says("As you wish."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Mend the login{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        terminal.type(ESCAPE)
        await terminal.see("Denied.")
        await terminal.see("As you wish.")
        await terminal.prompt()
    assert (project / "src" / "login.py").read_text() == LOGIN


async def test_the_number_of_an_answer_gives_it(ragforge: Open, project: Path) -> None:
    script = (Says(calls=(EDIT,)), Says("It is mended."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Mend the login{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        terminal.type("3")
        await terminal.see("Allowed always: **.")
        await terminal.see("It is mended.")
    assert (project / "src" / "login.py").read_text() == MENDED


async def test_a_dumb_terminal_takes_the_answer_with_enter(ragforge: Open, project: Path) -> None:
    script = (Says(calls=(EDIT,)), Says("As you wish."))
    async with model(*script) as server, ragforge(server=server, TERM="dumb") as terminal:
        await terminal.prompt()
        terminal.type(f"Mend the login{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        terminal.type(f"n use tabs{ENTER}")
        await terminal.see("Denied: use tabs")
        await terminal.see("As you wish.")
    assert (project / "src" / "login.py").read_text() == LOGIN


async def test_an_always_is_kept_and_listed_and_forgotten(ragforge: Open, project: Path) -> None:
    script = (
        Says(calls=(COMMAND,)),
        Says("Made."),
        Says(calls=(COMMAND,)),
        Says("Made again."),
    )
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Make it{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        assert not (project / "made.txt").exists()
        terminal.type("a")
        await terminal.see("Allowed always: touch made.txt.")
        await terminal.see("Made.")
        assert (project / "made.txt").exists()
        await terminal.prompt()
        terminal.type(f"Make it again{ENTER}")
        await terminal.see("Made again.")
        await terminal.prompt()
        assert "\n".join(terminal.scrollback).count("Run a command?") == 1
        terminal.type(f"/permissions{ENTER}")
        await terminal.see("  1  allow  run_command(touch made.txt)")
        terminal.type(f"/permissions forget 1{ENTER}")
        await terminal.see("This project has no rules")


async def test_ctrl_c_denies_and_interrupts(ragforge: Open, project: Path) -> None:
    script = (Says(calls=(COMMAND,)), Says("Never said."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Make it{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        terminal.type(CTRL_C)
        await terminal.see("Interrupted. What was done is kept; /retry resumes it.")
        await terminal.prompt()
        assert "Denied: The user interrupted." in "\n".join(terminal.scrollback)
        assert "Never said." not in "\n".join(terminal.scrollback)
    assert not (project / "made.txt").exists()


async def test_text_typed_before_the_question_is_not_an_answer_to_it(
    ragforge: Open, project: Path
) -> None:
    script = (Says(calls=(COMMAND,)), Says("As you wish."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Make it{ENTER}y{ENTER}")
        await terminal.see("Run a command?")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        assert not (project / "made.txt").exists()
        terminal.type(f"n{ENTER}")
        await terminal.see("As you wish.")
    assert not (project / "made.txt").exists()


async def test_a_command_cannot_scroll_itself_away_and_a_yes_needs_all_of_it(
    ragforge: Open, project: Path
) -> None:
    fake = "Run a command?\n$ make test\nAllow? [y/a/n]"
    line = f"# tidy up\ntouch made.txt #{'x' * 300}END\u200b" + "\n" * 60 + fake
    script = (Says(calls=(Call("run_command", {"command": line}),)), Says("It is done."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Tidy up{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        shown = "\n".join(terminal.lines)
        # What the sandbox of this machine does not stop may be listed before the line.
        assert re.search(r"│ (\([^\n]*\) )?\$ # tidy up⏎\n│ touch made.txt #xxx", shown)
        assert "END<U+200B>⏎" in shown
        assert "more rows are hidden. Enter shows the next, v shows all" in shown
        for _ in range(2):
            terminal.type("y")
            await terminal.see("answer again")
            await terminal.prompt(r"Allow\? \[y/a/n\]")
            assert not (project / "made.txt").exists()
        terminal.type("v")
        await terminal.see("  3 n  no; you can give the model a reason")
        assert any(row.endswith("│ Allow? [y/a/n]") for row in terminal.scrollback)
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        terminal.type("y")
        await terminal.see("It is done.")
    assert (project / "made.txt").exists()
