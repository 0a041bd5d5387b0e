"""`!` in the terminal: the user's own command, seen by the user and then by the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.terminal import CTRL_C, ENTER
from tests.fakes.wires import Call, Says
from tests.screens.conftest import Open, model

pytestmark = pytest.mark.long


async def test_a_user_command_is_shown_and_the_next_request_includes_it(
    ragforge: Open, project: Path
) -> None:
    async with model(Says("It is a shop.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"!cat README.md; echo $((40 + 2)) > made.txt{ENTER}")
        await terminal.see("✓ cat README.md; echo $((40 + 2)) > made.txt  exit 0 · ")
        await terminal.prompt()
        shown = "\n".join(terminal.scrollback)
        assert "# Shop" in shown
        assert "Allow?" not in shown
        assert (project / "made.txt").read_text() == "42\n"
        assert server.asked_in_turns == []
        terminal.type(f"What is it?{ENTER}")
        await terminal.see("It is a shop.")
        [asked] = server.asked_in_turns
        assert "!cat README.md; echo" in asked.text
        assert "# Shop" in asked.text
        assert "It ended with exit code 0." in asked.text


async def test_long_output_is_folded_and_a_failure_is_red_with_its_last_lines(
    ragforge: Open,
) -> None:
    async with ragforge() as terminal:
        await terminal.prompt()
        terminal.type(f"!{ENTER}")
        await terminal.see("Write a command after the !")
        await terminal.prompt()
        line = "seq 1 500; echo the end is near >&2; exit 3"
        terminal.type(f"!{line}{ENTER}")
        await terminal.see(f"✗ {line}  exit 3 · ")
        await terminal.prompt()
        shown = [row.strip() for row in terminal.scrollback]
        assert "20" in shown
        assert "21" not in shown
        assert "… 471 more lines: /expand" in shown
        assert shown.index("500") < shown.index("the end is near")
        assert terminal.style_of("the end is near").fg == "red"
        assert terminal.style_of("✗ seq").fg == "red"
        terminal.type(f"/expand{ENTER}")
        await terminal.see("250")


async def test_ctrl_c_ends_a_command_and_what_it_printed_is_kept(
    ragforge: Open, project: Path
) -> None:
    async with model(Says("It waited.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"!echo begun; sleep 600; touch made.txt{ENTER}")
        await terminal.see("begun")
        await terminal.on_screen("Esc ends it")
        terminal.type(CTRL_C)
        await terminal.see("Interrupted.")
        await terminal.prompt()
        terminal.type(f"What was that?{ENTER}")
        await terminal.see("It waited.")
        [asked] = server.asked_in_turns
        assert "begun" in asked.text
        assert "The user ended it." in asked.text
    assert not (project / "made.txt").exists()


async def test_a_background_command_is_listed_read_and_ended(ragforge: Open) -> None:
    line = "echo ready; sleep 600"
    script = (
        Says(calls=(Call("run_command", {"command": line, "background": True}),)),
        Says(calls=(Call("command_output", {"id": 1, "wait": 60}, "call-2"),)),
        Says("It is up."),
    )
    sandbox = {"RAGFORGE_TOOLS__SANDBOX": "off"}
    async with model(*script) as server, ragforge(server=server, **sandbox) as terminal:
        await terminal.prompt()
        terminal.type(f"Start it{ENTER}")
        await terminal.prompt(r"Allow\? \[y/a/n\]")
        assert "in the background" in "\n".join(terminal.scrollback)
        terminal.type(f"y{ENTER}")
        await terminal.see("It is up.")
        await terminal.prompt()
        await terminal.on_screen("1 command runs")
        assert "ready" in server.asked_in_turns[2].text
        terminal.type(f"/jobs{ENTER}")
        await terminal.see("  1  echo ready; sleep 600  running")
        await terminal.see("Jobs: ")
        terminal.type(f"/jobs stop 1{ENTER}")
        await terminal.see("echo ready; sleep 600  It was stopped.")
        await terminal.gone("1 command runs")


async def test_a_failed_command_of_the_model_is_red_with_its_last_lines(ragforge: Open) -> None:
    look = Call("run_command", {"command": "cat README.md nowhere.txt"})
    script = (Says(calls=(look,)), Says("It is not there."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Look{ENTER}")
        await terminal.see("It is not there.")
        await terminal.prompt()
        assert terminal.style_of("✗ run_command").fg == "red"
        assert terminal.style_of("cat: nowhere.txt").fg == "red"
