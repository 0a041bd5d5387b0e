"""Talking in the terminal: what a person types, and the screen they see."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

from ragforge import __version__
from ragforge.app.wiring.models import NO_CHAT_MODEL
from tests.fakes.chat_server import Breaks, Fails, Holds
from tests.fakes.terminal import ALT_ENTER, BACKSPACE, CTRL_C, CTRL_D, CTRL_J, ENTER, UP
from tests.fakes.wires import Call, Says
from tests.screens.conftest import Open, model

ANSWER = """\
# Login

It is in `src/login.py`:

```python
def login(user):
    return check(user)
```

- a `List<String>`
- two

Done."""
SHOWN = """\
Login

It is in src/login.py:

def login(user):
    return check(user)

 • a List<String>
 • two

Done."""
COLOUR = re.compile(rb"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


async def test_the_first_run_asks_nothing_and_tells_what_it_does(
    ragforge: Open, home: Path
) -> None:
    async with ragforge(size=(30, 200)) as terminal:
        await terminal.prompt()
        assert terminal.lines[:7] == [
            f"RagForge {__version__} · ~/shop · no model · /help",
            f"Memory is kept in {home}/store.db. The code of this project is read in the "
            "background.",
            NO_CHAT_MODEL,
            "",
            "─" * 200,
            "❯",
            "─" * 200,
        ]
        await terminal.on_screen("no model")
        terminal.type(CTRL_D)
        assert await terminal.ended() == 0
    assert (home / "store.db").exists()
    assert stat.S_IMODE((home / "state" / "history").stat().st_mode) == 0o600


async def test_without_a_model_what_was_found_is_the_answer(ragforge: Open) -> None:
    async with ragforge(size=(30, 150)) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.see("src/login.py:1  login")
        await terminal.prompt()


async def test_many_pasted_lines_are_one_sign_and_arrive_in_full(ragforge: Open) -> None:
    log = "\n".join(f"line {number} of the log" for number in range(500))
    async with model(Says("I see.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"\x1b[200~{log}\x1b[201~")
        await terminal.on_screen("❯ [500 lines]")
        terminal.type(BACKSPACE)
        await terminal.prompt()
        terminal.type(f"Why? \x1b[200~{log}\x1b[201~{ENTER}")
        await terminal.see("I see.")
        await terminal.prompt()
        assert "❯ Why? [500 lines]" in terminal.scrollback
        assert "line 499 of the log" not in "\n".join(terminal.scrollback)
        assert json.dumps(f"Why? {log}")[1:-1] in server.asked_in_turns[-1].text


async def test_the_picture_in_the_clipboard_is_named(ragforge: Open, home: Path) -> None:
    program = home / "bin" / "wl-paste"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nprintf '\\211PNG\\r\\n\\032\\n'\n")
    program.chmod(0o755)
    async with ragforge(size=(30, 200), PATH=f"{program.parent}:{os.environ['PATH']}") as terminal:
        await terminal.prompt()
        terminal.type("What is in \x16")
        await terminal.on_screen(f"❯ What is in @{home}/state/pictures/")


async def test_what_is_typed_while_it_starts_is_sent(ragforge: Open) -> None:
    async with ragforge(size=(30, 150), forked=False) as terminal:
        terminal.type(f"Where is the login?{ENTER}And the c")
        await terminal.see("src/login.py:1  login")
        await terminal.on_screen("❯ And the c")
        terminal.type(f"art?{ENTER}")
        await terminal.see("❯ And the cart?")
        await terminal.prompt()


async def test_waiting_says_for_whom_and_why_it_takes_longer(ragforge: Open) -> None:
    held = Holds(Says("It is in src/login.py."), after=0)
    busy = Fails(429, "overloaded", {"Retry-After": "1"})
    script = (busy, held)
    async with model(*script) as server, ragforge(server=server, size=(30, 120)) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.on_screen("attempt 2 of 5")
        await terminal.on_screen("overloaded")
        held.until.set()
        await terminal.see("It is in src/login.py.")
        await terminal.prompt()
        assert "attempt" not in "\n".join(terminal.scrollback)


async def test_a_model_that_keeps_failing_is_reported_once(ragforge: Open) -> None:
    busy = Fails(429, "the service is overloaded", {"Retry-After": "0"})
    async with model(*[busy] * 5) as server, ragforge(server=server, size=(30, 150)) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.see("/retry resumes it.")
        await terminal.prompt()
        shown = "\n".join(terminal.scrollback)
        assert shown.count("the service is overloaded") == 1
        assert "ttempt" not in shown
    assert len(server.asked_in_turns) == 5


async def test_an_answer_streams_in_as_markdown_and_stays_in_the_scrollback(
    ragforge: Open,
) -> None:
    held = Holds(Says(ANSWER), after=24)  # in the middle of the code
    async with model(held) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.on_screen("Esc interrupts")
        await terminal.on_screen("def login(user):")
        assert "Login" in terminal.lines
        assert "Done." not in terminal.lines
        held.until.set()
        await terminal.see("Done.")
        await terminal.prompt()
        whole = "\n".join(terminal.scrollback)
        assert SHOWN in whole
        assert "interrupts" not in whole
        assert whole.count("def login") == 1
        line = r"context: \d places? in the code(, \d documents?)?, \d+ chars"
        assert re.search(line, whole), whole
        terminal.type(CTRL_D)
        assert await terminal.ended() == 0
        await terminal.on_screen("Resume with: ragforge -r ")


async def test_code_and_headings_have_colours_unless_the_user_wants_none(ragforge: Open) -> None:
    async with model(Says(ANSWER)) as server:
        async with ragforge(server=server) as terminal:
            await terminal.prompt()
            terminal.type(f"Where is the login?{ENTER}")
            await terminal.see("Done.")
            assert terminal.style_of("Login").bold
            assert terminal.style_of("def login").fg != "default"
        async with ragforge(server=server, NO_COLOR="1") as terminal:
            await terminal.prompt()
            terminal.type(f"Where is the login?{ENTER}")
            await terminal.see("Done.")
            await terminal.prompt()
            assert not COLOUR.search(terminal.raw)


async def test_tool_calls_are_lines_with_what_they_gave(ragforge: Open) -> None:
    calls = (
        Call("grep_files", {"regex": "def login", "pattern": "**/*.py"}, "call-1"),
        Call("read_file", {"path": "src/nowhere.py"}, "call-2"),
        Call(
            "plan",
            {"items": [{"text": "Look", "state": "done"}, {"text": "Mend", "state": "doing"}]},
            "call-3",
        ),
    )
    script = (Says("Let me look.", calls=calls), Says("It is there."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.see("It is there.")
        await terminal.prompt()
        whole = "\n".join(terminal.scrollback)
        assert re.search(r"✓ grep_files def login in \*\*/\*\.py  1 match · \d+ ms", whole)
        assert re.search(r"✗ read_file src/nowhere\.py  .*nowhere", whole)
        assert "  ✓ Look\n  ▸ Mend" in whole
        assert whole.index("Let me look.") < whole.index("grep_files") < whole.index("It is there")
        terminal.type(f"/expand 3{ENTER}")
        await terminal.see("regex: def login")
        await terminal.see('"file": "src/login.py"')


async def test_ctrl_c_interrupts_a_turn_and_retry_continues(ragforge: Open) -> None:
    held = Holds(Says("The login is somewhere. " * 3), after=6)
    async with model(held, Says("It is in src.")) as server:
        async with ragforge(server=server) as terminal:
            await terminal.prompt()
            terminal.type(f"Where is the login?{ENTER}")
            await terminal.on_screen("The login")
            terminal.type(CTRL_C)
            await terminal.see("Interrupted. What was done is kept; /retry resumes it.")
            await terminal.prompt()
            assert "The login" in "\n".join(terminal.scrollback)
            terminal.type(f"/retry{ENTER}")
            await terminal.see("It is in src.")
            await terminal.prompt()
        asked = server.asked_in_turns[-1].text
        assert "Where is the login?" in asked
        assert "broke off" in asked


async def test_ctrl_c_at_the_prompt_clears_it_then_hints_then_quits(ragforge: Open) -> None:
    async with ragforge() as terminal:
        await terminal.prompt()
        terminal.type("half a thought")
        await terminal.on_screen("half a thought")
        terminal.type(CTRL_C)
        await terminal.gone("half a thought")
        await terminal.prompt()
        terminal.type(CTRL_C)
        await terminal.see("Ctrl-C again, or Ctrl-D, quits.")
        await terminal.prompt()
        terminal.type(CTRL_C)
        assert await terminal.ended() == 0


async def test_many_lines_are_one_input_pasted_or_typed(ragforge: Open, project: Path) -> None:
    async with model(Says("Noted.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.paste("one\ntwo\n\nthree")
        await terminal.on_screen("three")
        assert server.asked_in_turns == []
        terminal.type(f"{ALT_ENTER}four{CTRL_J}five")
        await terminal.on_screen("five")
        assert server.asked_in_turns == []
        terminal.type(ENTER)
        await terminal.see("Noted.")
        await terminal.prompt()
        assert "one\\ntwo\\n\\nthree\\nfour\\nfive" in server.asked_in_turns[0].text
        terminal.type(UP)
        await terminal.see("  five", 2)


async def test_what_is_typed_while_a_turn_runs_is_there_afterwards(ragforge: Open) -> None:
    held = Holds(Says("A long answer."), after=3)
    async with model(held, Says("Good.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.on_screen("A lon")
        terminal.type("thanks")
        held.until.set()
        await terminal.on_screen("❯ thanks")
        assert "\n".join(terminal.scrollback).count("thanks") == 1
        terminal.type(ENTER)
        await terminal.see("Good.")


async def test_a_provider_that_fails_is_reported_in_one_sentence_and_the_session_continues(
    ragforge: Open,
) -> None:
    script = (Fails(401, "no such key"), Breaks(Says("Half an answer"), after=4), Says("Whole."))
    async with model(*script) as server, ragforge(server=server, size=(40, 150)) as terminal:
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.see("OPENAI_API_KEY")
        await terminal.see("/retry resumes it.")
        await terminal.prompt()
        terminal.type(f"And now?{ENTER}")
        await terminal.see("/retry resumes it.", 2)
        await terminal.prompt()
        terminal.type(f"/retry{ENTER}")
        await terminal.see("Whole.")
        await terminal.prompt()


async def test_the_window_may_change_its_size_at_any_time(ragforge: Open) -> None:
    text = "The login is checked where the user is known by name and by nothing else at all."
    held = Holds(Says(f"{text}\n\n{text} End."), after=25)
    async with model(held) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.resize(60)
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.on_screen("Esc interrupts")
        await terminal.on_screen("nothing else at all.")
        terminal.resize(40)
        held.until.set()
        await terminal.see("End.")
        await terminal.prompt()
        said = " ".join(" ".join(terminal.scrollback).split())
        assert f"{text} End." in said
        terminal.resize(20)
        terminal.type("ok")
        await terminal.on_screen("❯ ok")


async def test_a_dumb_terminal_and_a_narrow_encoding_are_served_plainly(ragforge: Open) -> None:
    script = (Says(calls=(Call("list_files", {"path": "src"}),)), Says("Übrigens: da."))
    async with model(*script) as server:
        narrow = {"PYTHONIOENCODING": "ascii", "TERM": "dumb"}
        async with ragforge(server=server, forked=False, **narrow) as terminal:
            await terminal.see("/help")
            await terminal.prompt(">")
            terminal.type(f"Where?{ENTER}")
            await terminal.see("?brigens: da.")
            assert "+ list_files src  2 entries" in "\n".join(terminal.scrollback)
            terminal.type(CTRL_D)
            assert await terminal.ended() == 0


async def test_what_a_model_says_cannot_steer_the_terminal(ragforge: Open) -> None:
    evil = "Look: \x1b[2J\x1b]0;pwned\x07 gone\u202e?"
    async with model(Says(evil)) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"Where?{ENTER}")
        await terminal.see("gone")
        await terminal.prompt()
        assert b"\x1b[2J" not in terminal.raw
        assert b"pwned\x07" not in terminal.raw
