"""Commands about RagForge itself: /help, /status, /model, /verbose, /quit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.app.change_model import with_model
from ragforge.app.models import NO_CHAT_MODEL
from ragforge.show.project_status import show_status
from ragforge.show.sessions import named, turns_of
from ragforge.tui.commands.command import Command
from ragforge.tui.toolbar import usage_line

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

KEYS = (
    ("1, 2, 3", "at the start: go on with one of the latest sessions"),
    ("Enter", "send"),
    ("Alt-Enter, Ctrl-J", "another line"),
    ("@", "name a file of the project"),
    ("Up, Ctrl-R", "what was typed before"),
    ("Ctrl-O", "the last tool call, whole"),
    ("Ctrl-X Ctrl-E", "write in your editor"),
    ("Ctrl-C", "interrupt a turn; twice at an empty prompt: quit"),
    ("Ctrl-D", "quit"),
)


async def help_(terminal: Terminal, argument: str) -> None:
    from ragforge.tui.commands import COMMANDS

    rows = [(f"/{one.name} {one.arguments}".strip(), one.purpose) for one in COMMANDS]
    width = max(len(left) for left, _ in (*rows, *KEYS))
    for left, right in rows:
        terminal.screen.say(f"  {left:<{width}}  {right}")
    terminal.screen.say()
    for left, right in KEYS:
        terminal.screen.say(f"  {left:<{width}}  {right}")


async def status(terminal: Terminal, argument: str) -> None:
    app, screen = terminal.app, terminal.screen
    session = terminal.session
    if session is None:
        screen.say("Session  new, nothing was asked yet")
    else:
        session = await app.store.conversations.get(session.uuid)
        screen.say(f"Session  {named(session)}, {turns_of(session)}")
    screen.say(f"Model    {terminal.model or 'none'}  {usage_line(terminal.usage)}".rstrip())
    screen.say(f"Store    {app.settings.store.url}")
    jobs = {str(key): count for key, count in (await app.store.jobs.counts()).items()}
    show_status(await app.brain.status(), jobs)


async def model(terminal: Terminal, argument: str) -> None:
    screen = terminal.screen
    if not argument:
        known = terminal.model
        screen.say(f"{known} answers. /model NAME asks another." if known else NO_CHAT_MODEL)
        return
    before = terminal.app
    terminal.app = with_model(before, argument)
    if before.chat is not None:
        await before.chat.model.close()
    now = terminal.model
    screen.say(f"{now} answers from now on." if now else "No model answers from now on.")
    screen.note("To keep it: set llm.model in your configuration file.")


async def verbose(terminal: Terminal, argument: str) -> None:
    terminal.verbose = not terminal.verbose
    how = "shown whole" if terminal.verbose else "one line"
    terminal.screen.say(f"The model's reasoning is {how} from now on.")


async def quit_(terminal: Terminal, argument: str) -> None:
    terminal.is_leaving = True


COMMANDS = (
    Command("help", "", "All commands and keys", help_),
    Command("status", "", "Session, model, store, and what is known of the code", status),
    Command("model", "[NAME]", "Who answers, or let another model answer", model),
    Command("verbose", "", "Show the model's reasoning whole, or on one line", verbose),
    Command("quit", "", "Leave", quit_),
)
