"""`ragforge ask` in a terminal: the answer as it comes, questions before changes."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.chat_server import Breaks, Holds
from tests.fakes.terminal import CTRL_C, ENTER
from tests.fakes.wires import Call, Says
from tests.screens.conftest import LOGIN, Open, model

EDIT = Call("write_file", {"path": "src/login.py", "content": "def login(): ...\n"})


async def test_an_answer_is_written_as_it_comes(ragforge: Open) -> None:
    held = Holds(Says("First.\n\nSecond, **at last**."), after=2)
    async with model(held) as server, ragforge("ask", "Where?", server=server) as terminal:
        await terminal.on_screen("First")
        assert "Second" not in "\n".join(terminal.scrollback)
        held.until.set()
        await terminal.see("Second, at last.")
        assert await terminal.ended() == 0


async def test_a_change_is_asked_for(ragforge: Open, project: Path) -> None:
    file = project / "src" / "login.py"
    script = (Says(calls=(EDIT,)), Says("As you wish."), Says(calls=(EDIT,)), Says("Done."))
    async with model(*script) as server:
        async with ragforge("-p", "Shorten it", server=server) as terminal:
            await terminal.prompt(r"Allow\? \[y/a/n\]")
            terminal.type(f"n{ENTER}")
            await terminal.see("As you wish.")
            assert await terminal.ended() == 0
        assert file.read_text() == LOGIN
        async with ragforge("ask", "--yes", "Shorten it", server=server) as terminal:
            await terminal.see("Done.")
            assert await terminal.ended() == 0
        assert file.read_text() == "def login(): ...\n"


async def test_ctrl_c_ends_it_with_130(ragforge: Open) -> None:
    held = Holds(Says("A long story."), after=3)
    asks = ("ask", "Where?")
    async with model(held) as server, ragforge(*asks, server=server, forked=False) as terminal:
        await terminal.on_screen("A lon")
        terminal.type(CTRL_C)
        await terminal.see("Interrupted. What was done is kept")
        assert await terminal.ended() == 130
        assert "A lon" in "\n".join(terminal.scrollback)


async def test_an_answer_that_is_cut_off_ends_with_3(ragforge: Open) -> None:
    script = (Breaks(Says("Half an answer"), after=3),)
    async with model(*script) as server, ragforge("ask", "Where?", server=server) as terminal:
        assert await terminal.ended() == 3
        assert "Half" in "\n".join(terminal.scrollback)
