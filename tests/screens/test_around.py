"""Around the conversation: code that changes, sub-agents, long answers, signals."""

from __future__ import annotations

import os
import signal
import termios
from pathlib import Path

import pytest

from tests.fakes.chat_server import Holds
from tests.fakes.terminal import CTRL_D, ENTER
from tests.fakes.wires import Call, Says
from tests.screens.conftest import Open, model

pytestmark = pytest.mark.long

FLAGS = termios.ECHO | termios.ICANON


async def test_code_that_changes_while_the_terminal_is_open_is_known(
    ragforge: Open, project: Path
) -> None:
    async with ragforge() as terminal:
        await terminal.prompt()
        terminal.type(f"/search login{ENTER}")
        await terminal.see("src/login.py:1-2")
        times = 0
        while "zebra.py:1-2" not in "\n".join(terminal.scrollback):
            times += 1
            assert times < 100
            # Written again each time: the watcher may not have been listening yet.
            text = f"def paint_stripes(zebra):\n    return {times}\n"
            (project / "src" / "zebra.py").write_text(text)
            await terminal.prompt()
            terminal.type(f"/search paint_stripes{ENTER}")
            await terminal.see("❯ /search paint_stripes", times)
            await terminal.prompt()


async def test_calls_of_a_sub_agent_are_indented(ragforge: Open) -> None:
    script = (
        Says(calls=(Call("delegate", {"task": "Look into src"}),)),
        Says(calls=(Call("list_files", {"path": "src"}, "call-9"),)),
        Says("There are two files."),
        Says("My helper saw two files."),
    )
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Look around{ENTER}")
        await terminal.see("My helper saw two files.")
        await terminal.prompt()
        shown = "\n".join(terminal.scrollback)
        assert "\n  ✓ list_files src  2 entries" in shown
        assert "\n✓ delegate Look into src  1 line" in shown


async def test_a_long_answer_is_whole_in_the_scrollback(ragforge: Open) -> None:
    code = "\n".join(f"value_{number} = {number}" for number in range(300))
    text = f"All of it:\n\n```python\n{code}\n```\n\nThat was it."
    async with model(Says(text)) as server, ragforge(server=server, size=(20, 60)) as terminal:
        await terminal.prompt()
        terminal.type(f"Show me all{ENTER}")
        await terminal.see("That was it.")
        await terminal.prompt()
        shown = [line for line in terminal.scrollback if line.startswith("value_")]
        assert shown == code.split("\n")


async def test_the_terminal_is_restored_however_it_ends(ragforge: Open) -> None:
    held = Holds(Says("A long story."), after=3)
    async with model(held) as server, ragforge(server=server) as terminal:
        before = terminal.attributes()[3] & FLAGS
        await terminal.prompt()
        terminal.type(f"Tell me{ENTER}")
        await terminal.on_screen("A lon")
        assert terminal.attributes()[3] & FLAGS == 0
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert await terminal.ended() == 143
        assert terminal.attributes()[3] & FLAGS == before


async def test_a_directory_that_is_not_a_project_is_not_read_unasked(
    ragforge: Open, project: Path
) -> None:
    (project / ".git").rmdir()
    (project / "README.md").unlink()
    async with ragforge(size=(30, 400)) as terminal:
        await terminal.see("May all its files be read and remembered?")
        terminal.type(f"n{ENTER}")
        await terminal.prompt()
        assert f"{project} is not a project: its files are not read" in "\n".join(terminal.lines)
        terminal.type(f"/status{ENTER}")
        await terminal.see("is not indexed yet")
        await terminal.prompt()
        terminal.type(CTRL_D)
        assert await terminal.ended() == 0
