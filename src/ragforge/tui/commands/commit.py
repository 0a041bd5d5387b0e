"""The files of this session as a commit: /commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.show.visible import make_visible
from ragforge.tui.choices import confirm
from ragforge.tui.commands.command import Command, require_session

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal


async def commit(terminal: Terminal, argument: str) -> None:
    session, screen = require_session(terminal), terminal.screen
    if terminal.app.model and not argument:
        screen.note(f"{terminal.app.model} drafts a message …")
    draft = await terminal.app.draft_commit(session.uuid, argument)
    for line in draft.message.split("\n"):
        screen.say(f"{screen.signs.bar} {line}")
    for file in draft.files:
        screen.say(f"  {make_visible(file)}")
    if await confirm("Commit these files with this message?"):
        screen.say((await terminal.app.commit(session.uuid, draft)).rstrip())
    else:
        screen.say("Nothing was committed. /commit MESSAGE takes your own words.")


COMMANDS = (Command("commit", "[MESSAGE]", "Commit the files that this session changed", commit),)
