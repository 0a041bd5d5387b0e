"""Commands about RagForge itself: /status, /verbose, /quit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.show.project import show_status
from ragforge.show.sessions import count_turns, name_session
from ragforge.tui.commands.command import Command
from ragforge.tui.toolbar import format_usage

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal


async def status(terminal: Terminal, argument: str) -> None:
    app, screen = terminal.app, terminal.screen
    session = terminal.session
    if session is None:
        screen.say("Session  new, nothing was asked yet")
    else:
        session = await app.sessions.load(session.uuid)
        screen.say(f"Session  {name_session(session)}, {count_turns(session)}")
    screen.say(f"Model    {terminal.app.model or 'none'}  {format_usage(terminal.usage)}".rstrip())
    screen.say(f"Store    {app.settings.store.url}")
    show_status(await app.code.status(), (await app.jobs.count()).by_status)


async def verbose(terminal: Terminal, argument: str) -> None:
    terminal.verbose = not terminal.verbose
    how = "shown in full" if terminal.verbose else "one line"
    terminal.screen.say(f"The model's reasoning is {how} from now on.")


async def quit_(terminal: Terminal, argument: str) -> None:
    terminal.is_leaving = True


COMMANDS = (
    Command("status", "", "Session, model, store, and what is known of the code", status),
    Command("verbose", "", "Show the model's reasoning in full, or on one line", verbose),
    Command("quit", "", "Leave", quit_),
)
