"""Back to before a turn: /rewind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.errors import InputError
from ragforge.show.calls import format_count
from ragforge.show.console import fit_line
from ragforge.show.sessions import shorten_id
from ragforge.tui.commands.command import Command, require_session

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

LISTED = 20
USAGE = (
    "/rewind N goes back to before turn N, with the files that were edited since; "
    "/rewind N talk or /rewind N files goes back in one of them."
)


async def rewind(terminal: Terminal, argument: str) -> None:
    session = require_session(terminal)
    if not argument:
        await _list_turns(terminal, session.uuid)
        return
    number, _, what = argument.partition(" ")
    what = what.strip()
    if not number.isdecimal() or what not in ("", "talk", "files"):
        raise InputError(USAGE)
    edits = await terminal.app.edits(session.uuid)
    done = await edits.rewind(int(number), talk=what != "files", files=what != "talk")
    screen = terminal.screen
    for change in done.files:
        screen.say(f"{change.path} is as it was before turn {number}.")
    if not done.files and what != "talk":
        screen.say("No file was edited since.")
    if what == "files":
        return
    terminal.session, terminal.receipt = done.session, None
    terminal.draft = done.question
    where = f"ragforge -r {shorten_id(session.uuid)}"
    screen.say(f"This is before turn {number}. What followed is kept: {where}")


async def _list_turns(terminal: Terminal, session_id: str) -> None:
    screen = terminal.screen
    turns = await (await terminal.app.edits(session_id)).list_turns()
    for one in turns[-LISTED:]:
        asked = fit_line(one.turn.user.content, max(screen.out.width - 50, 20))
        since = f"{format_count(len(one.files), 'file', 'files')} edited since"
        screen.say(f"{one.turn.user.turn_index:>4}  {asked}" + (f"  ({since})" * bool(one.files)))
    screen.note(USAGE)


COMMANDS = (
    Command("rewind", "[TURN] [talk|files]", "Back to before a turn: talk and files", rewind),
)
