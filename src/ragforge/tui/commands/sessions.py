"""Commands about sessions (such as /resume) and about turns (such as /retry)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from ragforge.app.features.sessions import save_file
from ragforge.domain.modes import MODES, Mode
from ragforge.errors import InputError
from ragforge.private_files import make_private_folder
from ragforge.show.answers import show_receipt
from ragforge.show.call_lines import format_call, format_full_call
from ragforge.show.markdown import render_markdown
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


CARRY_OUT = "Carry out the plan."
MEANINGS: dict[Mode, str] = {
    "ask": "RagForge asks before each change",
    "plan": "nothing is changed, and the answer is a plan",
    "accept-edits": "files of the project are changed without asking; commands need a yes",
    "auto": "edits and commands in a sandbox without network need no yes",
}
LISTED = 20


async def retry(terminal: Terminal, argument: str) -> None:
    await terminal.retry(require_session(terminal))


async def context(terminal: Terminal, argument: str) -> None:
    receipt = terminal.receipt or await terminal.app.sessions.last_receipt(
        require_session(terminal).uuid
    )
    if receipt is None:
        terminal.screen.say("No answer in this session has a receipt yet. Ask a question first.")
    else:
        show_receipt(receipt)


async def compact(terminal: Terminal, argument: str) -> None:
    text = await terminal.app.memory.summarise(require_session(terminal).uuid)
    terminal.screen.note("Summary of this session, for later turns and sessions:")
    terminal.screen.out.print(render_markdown(text or "Nothing yet."))


async def mode(terminal: Terminal, argument: str) -> None:
    if argument:
        terminal.mode = terminal.app.require_mode(argument.lower().replace(" ", "-"))
        terminal.screen.say(f"Mode {terminal.mode}: {MEANINGS[terminal.mode]}.")
        return
    for name in MODES:
        sign = terminal.screen.signs.now if name == terminal.mode else " "
        terminal.screen.say_after(f"{sign} {name:<12}  ", MEANINGS[name])


async def accept(terminal: Terminal, argument: str) -> None:
    require_session(terminal)
    if terminal.mode != "plan":
        raise InputError("There is no plan to accept: the mode is not plan. /mode plan starts it.")
    if argument not in ("", "edits"):
        raise InputError("Write /accept, or /accept edits to allow edits without asking.")
    terminal.mode = "accept-edits" if argument else "ask"
    terminal.screen.note(f"Mode {terminal.mode}: {MEANINGS[terminal.mode]}.")
    await terminal.ask(CARRY_OUT)


async def expand(terminal: Terminal, argument: str) -> None:
    calls, screen = terminal.calls, terminal.screen
    if not argument and not calls:
        screen.note("No tool was called in this terminal yet.")
        return
    if argument == "list":
        for number, call in list(enumerate(calls, 1))[-LISTED:]:
            shown = format_call(call, screen.signs, screen.out.width - 5)
            for row, line in enumerate(shown.split("\n")):
                screen.out.print(Text.assemble("    " if row else f"{number:>3} ", line))
        return
    argument = argument or str(len(calls))
    if not argument.isdecimal() or not 1 <= int(argument) <= len(calls):
        raise InputError(f"There are {len(calls)} tool calls. /expand list numbers them.")
    call = calls[int(argument) - 1]
    screen.out.print(Group(*format_full_call(call, screen)))


TURN_COMMANDS = (
    Command("retry", "", "Resume a turn that was interrupted", retry, is_turn=True),
    Command("context", "", "The context of the last answer, and why", context),
    Command("compact", "", "Summarise the conversation now", compact),
    Command(
        "mode", "[NAME]", "Ask before changes, only plan, accept edits, or auto (Shift-Tab)", mode
    ),
    Command("accept", "[edits]", "Carry out the plan of plan mode", accept, is_turn=True),
    Command("expand", "[N|list]", "The last tool call, or the n-th, in full", expand),
)
