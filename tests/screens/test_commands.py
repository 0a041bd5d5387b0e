"""Commands and completion in the terminal."""

from __future__ import annotations

import re
from pathlib import Path

from tests.fakes.terminal import CTRL_C, CTRL_O, DOWN, ENTER, ESCAPE, TAB
from tests.fakes.wires import Call, Says
from tests.screens.conftest import Open, model

ALTERNATE, NORMAL = b"\x1b[?1049h", b"\x1b[?1049l"


async def test_commands_are_offered_with_what_they_are_for(ragforge: Open) -> None:
    async with ragforge() as terminal:
        await terminal.prompt()
        terminal.type("/re")
        await terminal.on_screen("/retry")
        shown = "\n".join(terminal.lines)
        assert re.search(r"/retry +Resume a turn that was interrupted", shown)
        assert re.search(r"/resume +Resume another session", shown)
        assert "/help " not in shown
        terminal.type(f"n{TAB}")
        await terminal.on_screen("❯ /rename")


async def test_files_are_offered_by_a_few_letters_of_their_path(ragforge: Open) -> None:
    async with model(Says("Noted.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type("What is in @logn")
        await terminal.on_screen("src/login.py")
        terminal.type(DOWN)
        await terminal.on_screen("❯ What is in @src/login.py")
        terminal.type(ENTER)  # takes the file; another one sends
        terminal.type(f" now?{ENTER}")
        await terminal.see("Noted.")
        assert "What is in @src/login.py now?" in server.asked_in_turns[0].text


async def test_help_lists_every_command_and_key(ragforge: Open) -> None:
    async with ragforge(size=(50, 100)) as terminal:
        await terminal.prompt()
        terminal.type(f"/help{ENTER}")
        await terminal.see("Ctrl-D")
        await terminal.prompt()
        shown = "\n".join(terminal.scrollback)
        names = "help sessions resume rename branch export context memory search model undo"
        names += " compact status clear retry permissions quit verbose expand mode accept"
        names += " jobs diff rewind commit cost"
        for name in names.split():
            assert re.search(rf"^  /{name} .*\w", shown, re.MULTILINE), name


async def test_a_command_that_is_not_known_is_reported_in_one_sentence(ragforge: Open) -> None:
    async with model(Says("It is a file.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"/retyr{ENTER}")
        await terminal.see("There is no command /retyr. Did you mean /retry?")
        terminal.type(f"/retry{ENTER}")
        await terminal.see("This session is empty. Ask a question first.")
        terminal.type(f"/etc/hosts is what?{ENTER}")
        await terminal.see("It is a file.")


async def test_memory_code_and_context_are_searched_and_shown(ragforge: Open) -> None:
    async with model(Says("Sixty seconds.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"How long is the lease of the login?{ENTER}")
        await terminal.see("Sixty seconds.")
        await terminal.prompt()
        terminal.type(f"/memory lease{ENTER}")
        await terminal.see("turn 0")
        terminal.type(f"/search login{ENTER}")
        await terminal.see("src/login.py:1-2")
        terminal.type(f"/context{ENTER}")
        await terminal.see("of 100,000 characters")
        terminal.type(f"/memory{ENTER}")
        await terminal.see("There are no summaries yet.")
        terminal.type(f"/status{ENTER}")
        await terminal.see("Model    openai:gpt-4o-mini")


async def test_another_model_may_answer(ragforge: Open) -> None:
    async with model(Says("I am here.")) as server:
        url = {"RAGFORGE_LLM__BASE_URL": server.base_url}
        async with ragforge(**url) as terminal:
            await terminal.prompt()
            terminal.type(f"/model gpt{ENTER}")
            await terminal.see("'gpt' is not a model: write none, or MODEL after one of")
            terminal.type(f"/model openai:gpt-4o-mini{ENTER}")
            await terminal.see("openai:gpt-4o-mini answers from now on.")
            terminal.type(f"Who are you?{ENTER}")
            await terminal.see("I am here.")


async def test_a_model_is_picked_and_kept(ragforge: Open, home: Path) -> None:
    async with ragforge() as terminal:
        await terminal.prompt()
        terminal.type(f"/model{ENTER}")
        await terminal.on_screen("Search:")
        terminal.type("gpt")
        await terminal.on_screen("openai:gpt-5-mini")
        terminal.type(ENTER)
        await terminal.see("openai:gpt-5-mini answers from now on.")
        await terminal.prompt()
        terminal.type(f"/model save{ENTER}")
        await terminal.see("openai:gpt-5-mini answers in later sessions:")
        await terminal.prompt()
        terminal.type(f"/model{ENTER}")
        await terminal.on_screen("answers now")
        terminal.type(ESCAPE)
        await terminal.see("openai:gpt-5-mini answers.")
    assert (home / "user.yaml").read_text() == "llm:\n  model: openai:gpt-5-mini\n"


async def test_reasoning_is_shown_whole_if_wanted(ragforge: Open) -> None:
    said = Says("Sixty seconds.", reasoning="It was said before.")
    async with model(said) as server, ragforge("--verbose", server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"How long?{ENTER}")
        await terminal.see("Sixty seconds.")
        await terminal.prompt()
        assert "It was said before." in "\n".join(terminal.scrollback)
        terminal.type(f"/verbose{ENTER}")
        await terminal.see("reasoning is one line from now on")
        terminal.type(f"How long?{ENTER}")
        await terminal.see("Sixty seconds.", 2)
        await terminal.prompt()
        assert "\n".join(terminal.scrollback).count("It was said before.") == 1


async def test_ctrl_o_shows_the_whole_session_and_returns_to_the_prompt(ragforge: Open) -> None:
    script = (
        Says(calls=(Call("list_files", {"path": "src"}),)),
        Says("Two **files**."),
        Says("Noted."),
    )
    less = {"PAGER": "less", "LESS": "R"}
    async with model(*script) as server, ragforge(server=server, **less) as terminal:
        await terminal.prompt()
        terminal.type(CTRL_O)
        await terminal.see("This session is empty. Ask a question first.")
        terminal.type(f"What is in src?{ENTER}")
        await terminal.see("Two files.")
        await terminal.prompt()
        terminal.type("half a thought")
        await terminal.on_screen("❯ half a thought")
        terminal.type(CTRL_O)
        await terminal.see('"src/cart.py"')
        assert ALTERNATE in terminal.raw
        terminal.type(CTRL_C)  # for the pager, which rings the bell
        await terminal.until(lambda: b"\a" in terminal.raw, "the bell")
        terminal.type("q")
        await terminal.until(lambda: NORMAL in terminal.raw, "the end of the pager")
        await terminal.on_screen("half a thought")
        terminal.type(f", and more{ENTER}")
        await terminal.see("Noted.")
        assert "half a thought, and more" in server.asked_in_turns[-1].text


async def test_the_users_pager_gets_what_was_said_and_done(ragforge: Open, home: Path) -> None:
    pager = home / "pager"
    pager.write_text(f"#!/bin/sh\ncat > {home}/seen\n")
    pager.chmod(0o755)
    calls = (Call("list_files", {"path": "src"}, "1"), Call("read_file", {"path": "no.py"}, "2"))
    async with model(Says("I look.", calls=calls), Says("Two **files**.")) as server:
        async with ragforge(server=server, PAGER=f"{pager} -x") as terminal:
            await terminal.prompt()
            terminal.type(f"What is in src?{ENTER}")
            await terminal.see("Two files.")
            await terminal.prompt()
            terminal.type(CTRL_O)
            await terminal.until((home / "seen").exists, "the pager")
            await terminal.prompt()
        async with ragforge("-c", server=server, PAGER="no-such-pager", NO_COLOR="1") as terminal:
            await terminal.prompt()
            terminal.type(CTRL_O)
            await terminal.see("The pager 'no-such-pager' cannot be started.")
            await terminal.prompt()
    seen = re.sub(r"\x1b\[[0-9;]*m", "", (home / "seen").read_text())
    places = [
        seen.index(text)
        for text in ("❯ What is in src?", "I look.", '"src/cart.py"', "no such file", "Two files.")
    ]
    assert places == sorted(places)


async def test_init_offers_instructions_from_the_code(ragforge: Open, project: Path) -> None:
    async with ragforge() as terminal:
        await terminal.prompt()
        terminal.type(f"/init{ENTER}")
        await terminal.see("- `src/`: 2 files of python")
        await terminal.on_screen("Write this to AGENTS.md? [y/n]")
        terminal.type(f"y{ENTER}")
        await terminal.see("AGENTS.md is written.")
    assert "## Folders" in (project / "AGENTS.md").read_text()


async def test_init_lets_a_model_write_the_instructions(ragforge: Open, project: Path) -> None:
    written = Call("write_file", {"path": "AGENTS.md", "content": "# Shop\n\nRun `make`.\n"})
    script = (Says(calls=(written,)), Says("It is written."))
    mode = ("--mode", "accept-edits")
    async with model(*script) as server, ragforge(*mode, server=server) as terminal:
        await terminal.prompt("accept edits ❯")
        terminal.type(f"/init Keep it short{ENTER}")
        await terminal.see("It is written.")
        await terminal.prompt("accept edits ❯")
        asked = server.asked_in_turns[0].text
    assert "The user adds: Keep it short" in asked
    assert "`src/`: 2 files of python" in asked
    assert (project / "AGENTS.md").read_text() == "# Shop\n\nRun `make`.\n"


async def test_cost_shows_this_turn_this_session_and_today_by_model(ragforge: Open) -> None:
    steps = [Says("Sixty seconds.", input_tokens=1_200, cached_tokens=600), Says("Yes.")]
    async with model(*steps) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"/cost{ENTER}")
        await terminal.see("No model was asked yet.")
        terminal.type(f"How long is the lease?{ENTER}")
        await terminal.see("Sixty seconds.")
        await terminal.prompt()
        terminal.type(f"Is it renewed?{ENTER}")
        await terminal.see("Yes.")
        await terminal.prompt()
        terminal.type(f"/cost{ENTER}")
        await terminal.see("All of today")
        await terminal.prompt()
        shown = "\n".join(terminal.scrollback + terminal.lines)
        name = rf" +openai:{re.escape(server.wire.model)}"
        assert re.search(rf"This turn{name} +1 +11 +0% +7 ", shown)
        assert re.search(rf"This session{name} +2 +1,211 +50% +14 ", shown)
        assert re.search(rf"All of today{name} +2 +1,211 +50% +14 ", shown)
