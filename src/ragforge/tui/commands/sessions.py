"""Commands about sessions: /sessions, /resume, /rename, /share, /branch, /export, /clear."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.app.features.sessions import save_file
from ragforge.errors import InputError
from ragforge.private_files import make_private_folder
from ragforge.show.sessions import count_turns, name_session, shorten_id, show_sessions
from ragforge.tui.commands.command import Command, require_session
from ragforge.tui.greeting import show_latest
from ragforge.tui.picker import MAX_SESSIONS, pick

if TYPE_CHECKING:
    from ragforge.domain.conversations import Conversation, Visibility
    from ragforge.tui.terminal import Terminal


async def list_(terminal: Terminal, argument: str) -> None:
    sessions = terminal.app.sessions
    here = await sessions.find(limit=MAX_SESSIONS)
    if not here:
        terminal.screen.say("There are no sessions of this project yet.")
        return
    lines = await sessions.add_last_messages(here)
    show_sessions(lines, with_directory=False, viewer=terminal.app.identity.key)


async def resume(terminal: Terminal, argument: str) -> None:
    app = terminal.app
    if argument:
        found: Conversation | None = await app.sessions.resolve(argument)
    else:
        here = await app.sessions.find(limit=MAX_SESSIONS)
        if not here:
            raise InputError("There are no sessions of this project yet.")
        found = await pick(app, here, terminal.screen.signs)
    if found is not None:
        await _go_to(terminal, found)


async def rename(terminal: Terminal, argument: str) -> None:
    made = await terminal.app.sessions.rename(require_session(terminal), argument)
    terminal.session = made
    terminal.screen.say(f"It is {name_session(made)} now.")


async def share(terminal: Terminal, argument: str) -> None:
    await _set_visibility(terminal, "shared", "all users of this store can read it")


async def unshare(terminal: Terminal, argument: str) -> None:
    await _set_visibility(terminal, "private", "only you can read it")


async def branch(terminal: Terminal, argument: str) -> None:
    sessions = terminal.app.sessions
    source = await sessions.load(require_session(terminal).uuid)
    point, _, title = argument.partition(" ")
    point = point or str(source.turn_count - 1)
    made = await sessions.branch(source, point, title.strip() or None)
    terminal.screen.say(f"A branch of {name_session(source)}, with {count_turns(made)}:")
    await _go_to(terminal, made)


async def export(terminal: Terminal, argument: str) -> None:
    session = require_session(terminal)
    data = await terminal.app.sessions.export_bytes(session.uuid)
    if argument:
        path = terminal.app.cwd / Path(argument).expanduser()
    else:  # not among the files of the project
        folder = Path(terminal.app.settings.agent.state_dir) / "exports"
        make_private_folder(folder)
        path = folder / f"session-{shorten_id(session.uuid)}.json"
    await asyncio.to_thread(save_file, path, data)
    terminal.screen.say(f"Wrote {len(data):,} bytes to {path}.")


async def clear(terminal: Terminal, argument: str) -> None:
    terminal.session = None
    terminal.receipt = None
    terminal.screen.say(
        "A new session begins with your next message. /resume returns to the last one."
    )


async def _set_visibility(terminal: Terminal, visibility: Visibility, meaning: str) -> None:
    session = require_session(terminal)
    made = await terminal.app.sessions.set_visibility(session, visibility)
    terminal.session = made
    terminal.screen.say(f"{name_session(made)} is {made.visibility}: {meaning}.")


async def _go_to(terminal: Terminal, session: Conversation) -> None:
    terminal.session = session
    terminal.receipt = None
    await show_latest(terminal, session)


COMMANDS = (
    Command("sessions", "", "The sessions of this project", list_),
    Command("resume", "[ID]", "Resume another session", resume),
    Command("clear", "", "Begin a new session", clear),
    Command("rename", "TITLE", "Change the title of this session", rename),
    Command("share", "", "Let all users of this store read this session", share),
    Command("unshare", "", "Make this session private again", unshare),
    Command("branch", "[TURN] [TITLE]", "Begin another session from a turn of this one", branch),
    Command("export", "[FILE]", "Write this session as JSON", export),
)
