"""Plain: words in their order, which a screen reader reads once."""

from __future__ import annotations

import re
from pathlib import Path

from tests.fakes.terminal import ENTER, TAB
from tests.fakes.wires import Call, Says
from tests.screens.conftest import Open, model

SYMBOLS = re.compile("[─│┃✓✗☐▸❯·⏎⋮•█░⠀-⣿]")
UPWARDS = re.compile(rb"\x1b\[\d*A")
ANSWER = "It was **wrong**:\n\n- one\n- two\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n---\n\nDone."
EDIT = Call(
    "edit_file",
    {"path": "src/login.py", "old_text": "check(user)", "new_text": "check(user.name)"},
    "1",
)
PLAN = Call("plan", {"items": [{"text": "Mend", "state": "done"}, {"text": "Test"}]}, "2")
MISSING = Call("read_file", {"path": "no.py"}, "3")


async def test_a_turn_is_words_in_their_order_and_nothing_is_drawn_again(
    ragforge: Open, project: Path
) -> None:
    script = (Says("I mend it.", calls=(EDIT, PLAN, MISSING)), Says(ANSWER))
    plain = {"RAGFORGE_TERMINAL__PLAIN": "true"}
    async with model(*script) as server, ragforge(server=server, **plain) as terminal:
        await terminal.prompt(">")
        terminal.type(f"Mend the login.{ENTER}")
        await terminal.on_screen("Allow? [y/a/n]")
        shown = "\n".join(terminal.scrollback)
        assert "openai:gpt-4o-mini works on your question. Ctrl-C interrupts." in shown
        assert "removed 2:     return check(user)\n" in shown
        assert "added 2:     return check(user.name)\n" in shown
        assert "y  yes, this once" in shown
        terminal.type(f"y{ENTER}")
        await terminal.see("Done.")
        await terminal.prompt(">")
        shown = "\n".join(terminal.scrollback)
        assert "done: edit_file src/login.py  +1 −1, " in shown
        assert "  done: Mend\n  to do: Test" in shown
        assert "failed: read_file no.py  'no.py' cannot be read" in shown
        assert ANSWER in shown
        assert not SYMBOLS.search(shown), SYMBOLS.findall(shown)
        assert not SYMBOLS.search(terminal.raw.decode())
        turn = terminal.raw.partition(b"Allowed once.")[2].partition(b"Done.")[0]
        assert b"failed: " in turn
        assert not UPWARDS.search(turn)
    assert "user.name" in (project / "src" / "login.py").read_text()


async def test_lists_are_numbered_and_completions_are_written(ragforge: Open, home: Path) -> None:
    (home / "user.yaml").write_text("terminal:\n  plain: true\n")
    async with ragforge() as terminal:
        await terminal.prompt(">")
        terminal.type(f"/theme{ENTER}")
        await terminal.see("2  dark\n3  light\n")
        await terminal.see("4 of 4. A number chooses it, words search, Enter leaves.")
        await terminal.prompt("Number or words:")
        terminal.type(f"light{ENTER}")
        await terminal.see("1  light\n1 of 4.")
        await terminal.prompt("Number or words:")
        terminal.type(f"1{ENTER}")
        await terminal.see("terminal.theme is light")
        await terminal.prompt(">")
        terminal.type(f"/nothing{ENTER}")
        await terminal.see("failed: There is no command /nothing.")
        await terminal.prompt(">")
        terminal.type(f"/re{TAB}")
        await terminal.see("/resume")
        await terminal.see("/rename")
        await terminal.on_screen("> /re")
        assert not SYMBOLS.search(terminal.raw.decode())
