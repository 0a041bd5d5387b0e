"""Typing while a turn runs: the line is visible, what is sent is used, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.chat_server import Holds
from tests.fakes.terminal import BACKSPACE, CTRL_C, CTRL_D, ENTER, ESCAPE, TAB, UP
from tests.fakes.wires import Call, Says
from tests.screens.conftest import LOGIN, Open, model

LOOK = Call("list_files", {"path": "src"})
EDIT = Call(
    "edit_file",
    {"path": "src/login.py", "old_text": "check(user)", "new_text": "check(user.name)"},
)
ALLOW = r"Allow\? \[y/a/n\]"


async def test_esc_interrupts_a_turn_and_keeps_what_was_typed(ragforge: Open) -> None:
    held = Holds(Says("The login is somewhere. " * 3), after=6)
    async with model(held, Says("Good.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.on_screen("The login")
        terminal.type(f"And the cart?{ENTER}")
        await terminal.on_screen("❯ And the cart?  (at the next step)")
        terminal.type("and")
        await terminal.on_screen("❯ and")
        terminal.type(ESCAPE)
        await terminal.see("Interrupted. What was done is kept; /retry resumes it.")
        await terminal.on_screen("❯ And the cart?\n  and")
        assert "The login" in "\n".join(terminal.scrollback)


async def test_ctrl_c_keeps_what_was_typed(ragforge: Open) -> None:
    held = Holds(Says("A long answer."), after=3)
    async with model(held, Says("Good.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.on_screen("A lon")
        terminal.type("grüße 世界")
        await terminal.on_screen("❯ grüße 世")
        terminal.type(CTRL_C)
        await terminal.see("Interrupted.")
        await terminal.on_screen("❯ grüße 世")
        terminal.type(ENTER)
        await terminal.see("Good.")
        assert "grüße 世界" in server.asked_in_turns[-1].body["messages"][-1]["content"]


async def test_the_model_gets_what_is_sent_at_its_next_step(ragforge: Open, home: Path) -> None:
    held = Holds(Says("I look.", calls=(LOOK,)), after=3)
    async with model(held, Says("Only carts.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Look around{ENTER}")
        await terminal.on_screen("I look")
        terminal.type(f"Only the cart, please.{ENTER}")
        await terminal.on_screen("❯ Only the cart, please.  (at the next step)")
        held.until.set()
        await terminal.see("Only carts.")
        await terminal.prompt()
        whole = "\n".join(terminal.scrollback)
        assert whole.index("✓ list_files") < whole.index("❯ Only the cart, please.")
        assert whole.count("Only the cart, please.") == 1
        assert len(server.asked_in_turns) == 2
        last = server.asked_in_turns[-1].body["messages"][-3:]
        assert [one["role"] for one in last] == ["assistant", "tool", "user"]
        assert last[-1]["content"] == "Only the cart, please."
        terminal.type(f"/export {home}/talk.json{ENTER}")
        await terminal.see("Wrote ")
        await terminal.prompt()
        terminal.type(f"What did I say?{ENTER}")
        await terminal.see("Only carts.", 2)
        sent = server.asked_in_turns[-1].text
        assert sent.index("Look around") < sent.index("Only the cart, please.")
    told = (home / "talk.json").read_text()
    assert told.index("Look around") < told.index("Only the cart, please.")


async def test_tab_keeps_it_for_after_the_turn_and_up_takes_it_back(ragforge: Open) -> None:
    held = Holds(Says("I look.", calls=(LOOK,)), after=3)
    script = (held, Says("It is there."), Says("In cart.py."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Look around{ENTER}")
        await terminal.on_screen("I look")
        terminal.type(f"And the cat?{TAB}")
        await terminal.on_screen("❯ And the cat?  (after this turn)")
        terminal.type(UP)
        await terminal.gone("(after this turn)")
        terminal.type(f"{BACKSPACE * 2}rt?")
        await terminal.on_screen("❯ And the cart?")
        terminal.type(TAB)
        await terminal.on_screen("❯ And the cart?  (after this turn)")
        terminal.type(f"/mode plan{ENTER}")
        await terminal.on_screen("❯ /mode plan  (after this turn)")
        held.until.set()
        await terminal.see("In cart.py.")
        await terminal.prompt("plan ❯")
        whole = "\n".join(terminal.scrollback)
        assert whole.index("It is there.") < whole.index("❯ And the cart?") < whole.index("In cart")
        assert whole.index("In cart") < whole.index("❯ /mode plan")
        assert "And the cart?" not in server.asked_in_turns[1].text
        terminal.type(UP)
        await terminal.on_screen("plan ❯ /mode plan")


async def test_a_setting_lets_enter_wait_for_the_end_of_the_turn(ragforge: Open) -> None:
    held = Holds(Says("A long answer."), after=3)
    queue = {"RAGFORGE_TERMINAL__WHILE_WORKING": "queue"}
    async with model(held, Says("Good.")) as server, ragforge(server=server, **queue) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.on_screen("A lon")
        terminal.type("Thanks")
        await terminal.on_screen("Enter: after this turn · Tab: at the next step")
        terminal.type(ENTER)
        await terminal.on_screen("❯ Thanks  (after this turn)")
        held.until.set()
        await terminal.see("Good.")


async def test_many_pasted_lines_are_one_line_of_input(ragforge: Open) -> None:
    held = Holds(Says("A long answer."), after=3)
    log = "\n".join(f"line {number} of the log" for number in range(500))
    async with model(held, Says("I see.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.on_screen("A lon")
        terminal.paste("one\ntwo")
        await terminal.on_screen("❯ one\n  two")
        terminal.paste(log)
        await terminal.on_screen("  two[500 lines]")
        terminal.type(ENTER)
        await terminal.on_screen("❯ one two[500 lines]  (at the next step)")
        held.until.set()
        await terminal.see("I see.")
        assert "line 499 of the log" in server.asked_in_turns[-1].text
        assert "line 499 of the log" not in "\n".join(terminal.scrollback)


async def test_a_question_waits_for_the_typing_and_keeps_the_line(
    ragforge: Open, project: Path
) -> None:
    held = Holds(Says(calls=(EDIT,)), after=1)
    async with model(held, Says("It is mended.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Mend the login{ENTER}")
        await terminal.on_screen("Esc interrupts")
        terminal.type("yes an")
        await terminal.on_screen("❯ yes an")
        held.until.set()
        await terminal.prompt(ALLOW)
        assert (project / "src" / "login.py").read_text() == LOGIN
        assert "yes an" not in "\n".join(terminal.lines)
        terminal.type(f"y{ENTER}")  # Enter does not send the line
        await terminal.see("Allowed once.")
        await terminal.on_screen("❯ yes an")
        await terminal.see("It is mended.")
        assert "yes an" not in server.asked_in_turns[-1].text


async def test_what_is_typed_while_a_shell_command_runs_is_visible(
    ragforge: Open, project: Path
) -> None:
    async with ragforge() as terminal:
        await terminal.prompt()
        terminal.type(f"!until test -e go; do sleep 0.05; done{ENTER}")
        await terminal.on_screen("Esc ends it")
        terminal.type(f"!echo also this{ENTER}half a tho")
        await terminal.on_screen("❯ !echo also this  (after this turn)")
        await terminal.on_screen("❯ half a tho")
        (project / "go").touch()
        await terminal.see("✓ echo also this")
        await terminal.on_screen("❯ half a tho")
        terminal.type(CTRL_C)
        await terminal.prompt()
        terminal.type(f"!sleep 600{ENTER}")
        await terminal.on_screen("Esc ends it")
        terminal.type(ESCAPE)
        await terminal.see("Interrupted.")
        await terminal.prompt()
        terminal.type(CTRL_D)
        assert await terminal.ended() == 0


async def test_a_narrow_window_shows_the_line_whole(ragforge: Open) -> None:
    held = Holds(Says("A long answer. " * 40), after=100)
    async with model(held) as server, ragforge(server=server, size=(12, 80)) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.on_screen("A long answer.")
        terminal.type("a line that is longer than forty columns of a window")
        await terminal.on_screen("❯ a line that is longer")
        terminal.resize(40)
        await terminal.on_screen("❯ a line that is longer than forty colu\n  mns of a window")
        assert "\n".join(terminal.scrollback).count("a line that is longer") == 1
        assert "\n".join(terminal.scrollback).count("Esc interrupts") == 1
        held.until.set()
        await terminal.on_screen("❯ a line that is longer")
