"""Sessions in the terminal: new ones, earlier ones, and those that broke off."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from ragforge import load_settings, open_app
from ragforge.domain.conversations import ConversationFilter
from ragforge.domain.schema import CONVERSATION
from tests.fakes.chat_server import Holds
from tests.fakes.terminal import BACKSPACE, CTRL_D, DOWN, ENTER, ESCAPE
from tests.fakes.wires import Says
from tests.screens.conftest import Open, model

TITLES = ("Fix the login loop", "Leases of jobs", "Colours of the cart")


async def remember(environ: dict[str, str], project: Path, titles: tuple[str, ...]) -> list[str]:
    """Have some sessions from before; return their ids."""
    from ragforge.memory.sessions import create_session

    settings = load_settings(project, environ=environ).settings
    async with open_app(settings, project) as app:
        ids = []
        for title in titles:
            session = await create_session(app.store, app.cwd, app.project)
            await app.ask(f"Tell me: {title}", session.uuid)
            await app.sessions.rename(session, title)
            ids.append(session.uuid)
        return ids


async def test_a_new_session_begins_unless_an_earlier_one_is_wanted(
    ragforge: Open, environ: dict[str, str], project: Path
) -> None:
    await remember(environ, project, TITLES)
    async with model(Says("Sixty seconds.")) as server:
        async with ragforge(server=server) as terminal:
            await terminal.prompt()
            note = "3 earlier sessions here: ragforge -c, -r, or press 1, 2 or 3 now"
            assert terminal.lines[1] == note
            shown = [line.split("  ") for line in terminal.lines[2:5]]
            assert [(line[1], line[-1]) for line in shown] == [
                ("1", "Colours of the cart"),
                ("2", "Leases of jobs"),
                ("3", "Fix the login loop"),
            ]
            assert all("just now" in line and "1 turn" in line for line in terminal.lines[2:5])
            terminal.type(f"How long is a lease?{ENTER}")
            await terminal.see("Sixty seconds.")
            await terminal.prompt()
            terminal.type(CTRL_D)
            assert await terminal.ended() == 0
        async with ragforge("-c", server=server) as terminal:
            await terminal.prompt()
            shown = "\n".join(terminal.lines)
            assert "1 turn" in shown
            assert "❯ How long is a lease?\nSixty seconds.\n" in shown


async def test_one_key_continues_one_of_the_latest_sessions(
    ragforge: Open, environ: dict[str, str], project: Path
) -> None:
    ids = await remember(environ, project, TITLES)
    async with model(Says("Sixty seconds.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type("2")
        await terminal.see(f"❯ /resume {ids[1]}")
        await terminal.see(f"({TITLES[1]}), 1 turn")
        await terminal.prompt()
        terminal.type(f"3{BACKSPACE}How long?{ENTER}")
        await terminal.see("❯ How long?")
        await terminal.see("Sixty seconds.")
        await terminal.prompt()
        terminal.type(CTRL_D)
        await terminal.see(f"Resume with: ragforge -r {ids[1][:8]}")


async def test_a_question_that_begins_with_a_number_is_a_question(
    ragforge: Open, environ: dict[str, str], project: Path
) -> None:
    await remember(environ, project, TITLES[:1])
    async with model(Says("Because."), Says("Again.")) as server:
        async with ragforge(server=server) as terminal:
            await terminal.prompt()
            terminal.type("1 test fails")  # as it comes from a paste
            await terminal.on_screen("❯ 1 test fails")
            terminal.type(f", why?{ENTER}")
            await terminal.see("Because.")
        async with ragforge(server=server) as terminal:
            await terminal.prompt()
            terminal.type(" ")
            terminal.type(BACKSPACE)
            await terminal.prompt()
            terminal.type("1")  # something was typed before
            await terminal.on_screen("❯ 1")
            terminal.type(f" more?{ENTER}")
            await terminal.see("❯ 1 more?")
            await terminal.see("Again.")
        async with open_app(load_settings(project, environ=environ).settings, project) as app:
            found = await app.store.records.find(CONVERSATION, ConversationFilter())
            assert sorted(one.turn_count for one in found) == [1, 1, 1]


async def test_a_session_without_a_message_is_not_stored(
    ragforge: Open, environ: dict[str, str], project: Path
) -> None:
    async with ragforge() as terminal:
        await terminal.prompt()
        terminal.type(f"/status{ENTER}")
        await terminal.see("Session  new")
        await terminal.prompt()
        terminal.type(CTRL_D)
        await terminal.ended()
    async with open_app(load_settings(project, environ=environ).settings, project) as app:
        assert await app.store.records.find(CONVERSATION, ConversationFilter()) == []


async def test_the_picker_shows_all_sessions_and_searches_as_the_user_types(
    ragforge: Open, environ: dict[str, str], project: Path
) -> None:
    many = tuple(f"Number {number}" for number in range(20))
    await remember(environ, project, (*TITLES, *many))
    async with ragforge("-r") as terminal:
        await terminal.on_screen("23 of 23  Enter resumes, Esc leaves")
        terminal.type("lease job")
        await terminal.on_screen("1 of 23")
        assert sum("Leases of jobs" in line for line in terminal.lines) == 1
        terminal.type(ENTER)
        await terminal.prompt()
        assert "(Leases of jobs), 1 turn" in "\n".join(terminal.scrollback)
        assert "Search:" not in "\n".join(terminal.scrollback)


async def test_the_picker_moves_by_arrows_and_esc_leaves_it(
    ragforge: Open, environ: dict[str, str], project: Path
) -> None:
    await remember(environ, project, TITLES)
    async with ragforge("--resume") as terminal:
        await terminal.on_screen("3 of 3")
        terminal.type(DOWN)
        await terminal.until(
            lambda: any("❯" in line and TITLES[1] in line for line in terminal.lines),
            "the second session",
        )
        terminal.type(ESCAPE)
        assert await terminal.ended() == 0
        assert "No session was chosen." in terminal.lines
    async with ragforge() as terminal:
        await terminal.prompt()
        terminal.type(f"/resume{ENTER}")
        await terminal.on_screen("3 of 3")
        terminal.type(f"{DOWN}{DOWN}{ENTER}")
        await terminal.see(f"({TITLES[0]}), 1 turn")


async def test_a_session_is_resumed_by_the_start_of_its_id(
    ragforge: Open, environ: dict[str, str], project: Path
) -> None:
    ids = await remember(environ, project, TITLES)
    async with ragforge("-r", ids[0][:8]) as terminal:
        await terminal.prompt()
        assert f"({TITLES[0]}), 1 turn" in "\n".join(terminal.lines)
    async with ragforge("-r", "nowhere") as terminal:
        assert await terminal.ended() == 1
        assert "No session has an id that starts with 'nowhere'." in " ".join(terminal.lines)


async def test_a_terminal_that_was_killed_is_resumed(ragforge: Open) -> None:
    held = Holds(Says("The login is somewhere."), after=4)
    async with model(held, Says("It is in src.")) as server:
        async with ragforge(server=server) as terminal:
            await terminal.prompt()
            terminal.type(f"Where is the login?{ENTER}")
            await terminal.on_screen("The login is so")
            os.kill(terminal.process.pid, signal.SIGKILL)
        async with ragforge("-c", server=server) as terminal:
            await terminal.prompt()
            shown = "\n".join(terminal.lines)
            assert "❯ Where is the login?" in shown
            assert "The last question has no complete answer: /retry answers it." in shown
            terminal.type(f"/retry{ENTER}")
            await terminal.see("It is in src.")


async def test_sessions_are_renamed_shared_branched_exported_and_left(
    ragforge: Open, project: Path
) -> None:
    async with model(Says("Noted.")) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"/rename Too early{ENTER}")
        await terminal.see("This session is empty. Ask a question first.")
        for question in ("One?", "Two?"):
            terminal.type(f"{question}{ENTER}")
            await terminal.see(f"❯ {question}")
            await terminal.prompt()
        terminal.type(f"/rename All about   numbers{ENTER}")
        await terminal.see("(All about numbers) now.")
        terminal.type(f"/unshare{ENTER}")
        await terminal.see("is private: only you can read it.")
        terminal.type(f"/share{ENTER}")
        await terminal.see("is shared: all users of this store can read it.")
        terminal.type(f"/branch 0 Another way{ENTER}")
        await terminal.see("(Another way), 1 turn")
        terminal.type(f"/export out.json{ENTER}")
        await terminal.see("bytes to")
        terminal.type(f"/export{ENTER}")
        await terminal.see("bytes to", 2)
        terminal.type(f"/sessions{ENTER}")
        await terminal.see("Another way", 3)
        terminal.type(f"/clear{ENTER}")
        await terminal.see("A new session begins with your next message.")
    assert '"One?"' in (project / "out.json").read_text()
    assert not list(project.glob("session-*.json"))  # a file without a given name lies outside
