"""Commands about sessions: /sessions, /resume, /rename, /branch, /export, /clear."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.app.save_file import write_whole
from ragforge.errors import InputError
from ragforge.memory import sessions
from ragforge.memory.exchange.export import export_conversation, to_bytes
from ragforge.show.sessions import named, short, show_lines, turns_of
from ragforge.tui.commands.command import Command, begun
from ragforge.tui.greeting import recall
from ragforge.tui.picker import earlier, pick

if TYPE_CHECKING:
    from ragforge.domain.conversations import Conversation
    from ragforge.tui.terminal import Terminal


async def list_(terminal: Terminal, argument: str) -> None:
    here = await earlier(terminal.app)
    if not here:
        terminal.screen.say("There are no sessions in this directory yet.")
        return
    store = terminal.app.store.conversations
    show_lines(await sessions.add_last_messages(store, here), with_directory=False)


async def resume(terminal: Terminal, argument: str) -> None:
    app = terminal.app
    if argument:
        found: Conversation | None = await app.session_called(argument)
    else:
        here = await earlier(app)
        if not here:
            raise InputError("There are no sessions in this directory yet.")
        found = await pick(app, here, terminal.screen.signs)
    if found is not None:
        await _go_to(terminal, found)


async def rename(terminal: Terminal, argument: str) -> None:
    store = terminal.app.store.conversations
    made = await sessions.rename(store, begun(terminal), argument)
    terminal.session = made
    terminal.screen.say(f"It is {named(made)} now.")


async def branch(terminal: Terminal, argument: str) -> None:
    store = terminal.app.store.conversations
    source = await store.get(begun(terminal).uuid)
    point, _, title = argument.partition(" ")
    point = point or str(source.turn_count - 1)
    made = await sessions.branch(store, source, point, title.strip() or None)
    terminal.screen.say(f"A branch of {named(source)}, with {turns_of(made)}:")
    await _go_to(terminal, made)


async def export(terminal: Terminal, argument: str) -> None:
    session = begun(terminal)
    document = await export_conversation(terminal.app.store.archive, session.uuid)
    data = await asyncio.to_thread(to_bytes, document)
    path = Path(argument or f"session-{short(session.uuid)}.json").expanduser()
    path = path if path.is_absolute() else terminal.app.cwd / path
    await asyncio.to_thread(write_whole, path, data)
    terminal.screen.say(f"Wrote {len(data):,} bytes to {path}.")


async def clear(terminal: Terminal, argument: str) -> None:
    terminal.session = None
    terminal.receipt = None
    terminal.screen.say("A new session begins with your next message. /resume finds the last.")


async def _go_to(terminal: Terminal, session: Conversation) -> None:
    terminal.session = session
    terminal.receipt = None
    await recall(terminal, session)


COMMANDS = (
    Command("sessions", "", "The sessions of this directory", list_),
    Command("resume", "[ID]", "Go on with another session", resume),
    Command("clear", "", "Begin a new session", clear),
    Command("rename", "TITLE", "Give this session another title", rename),
    Command("branch", "[TURN] [TITLE]", "Go another way from a turn on", branch),
    Command("export", "[FILE]", "Write this session as JSON", export),
)
