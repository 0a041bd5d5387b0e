"""All commands of the terminal; run what the user typed."""

from __future__ import annotations

import asyncio
import difflib
import logging
import os
import re
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.app.features.user_commands import PromptFile, expand_arguments
from ragforge.errors import InputError, RagForgeError
from ragforge.show.notes import format_kept
from ragforge.show.sessions import shorten_id
from ragforge.tui.commands import changes, overview, sessions, settings
from ragforge.tui.commands.command import Command
from ragforge.tui.commands.settings import find_prompt, list_prompts, use_prompt
from ragforge.tui.commands.shell import find_shell_command, run_shell_command

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

log = logging.getLogger(__name__)

INTERRUPTED = "Interrupted. What was done is kept; /retry resumes it."
MIN_PURPOSE_CELLS = 40
"""Of a purpose that follows its command on the line; in a narrower terminal it is below."""
KEYS = (
    ("1, 2, 3", "at the start: resume one of the latest sessions"),
    ("Enter", "send; after the beginning of a command, run the first one of the menu"),
    ("Alt-Enter, Ctrl-J", "another line"),
    ("Esc", "interrupt a turn; at a question, no; twice at an empty prompt, /rewind"),
    ("During a turn", "Enter sends for its next step, Tab for after it, Up takes it back"),
    ("Shift-Tab", "the next mode: ask, plan, accept edits, auto (with a sandbox)"),
    ("!", "run a command in your shell; the model sees it with your next question"),
    ("#", "keep a note of this project; #! keeps a rule, which is part of every request"),
    ("@", "send a file, its lines (@a.py:3-9), a folder, a web page or a resource with it"),
    ("Up, Ctrl-R", "earlier input"),
    ("Ctrl-O", "the whole session in the pager, with all output of tools"),
    ("Ctrl-X Ctrl-E", "write in your editor"),
    ("Ctrl-C", "interrupt a turn; twice within two seconds at an empty prompt: quit"),
    ("Ctrl-D", "quit"),
)


async def show_help(terminal: Terminal, argument: str) -> None:
    rows = [
        (f"/{one.name} {one.arguments}".strip(), one.purpose) for one in list_commands(terminal)
    ]
    screen, width = terminal.screen, max(len(left) for left, _ in (*rows, *KEYS))
    for left, right in (*rows, ("", ""), *KEYS):
        if screen.out.width - width >= MIN_PURPOSE_CELLS:
            screen.say_after(f"  {left:<{width}}  ", right)
        else:
            screen.say(f"  {left}")
            screen.say_after("      ", right)


async def verbose(terminal: Terminal, argument: str) -> None:
    terminal.verbose = not terminal.verbose
    how = "shown in full" if terminal.verbose else "one line"
    terminal.screen.say(f"The model's reasoning is {how} from now on.")


async def quit_(terminal: Terminal, argument: str) -> None:
    terminal.is_leaving = True


COMMANDS: tuple[Command, ...] = (
    Command("help", "", "All commands and keys", show_help),
    *sessions.TURN_COMMANDS,
    *changes.COMMANDS,
    *sessions.COMMANDS,
    *overview.COMMANDS,
    *settings.COMMANDS,
    Command("verbose", "", "Show the model's reasoning in full, or on one line", verbose),
    Command("quit", "", "Quit", quit_),
)
_OTHER_NAMES = {"exit": "quit", "new": "clear", "?": "help"}
_COMMAND = re.compile(r"/([a-z?][a-z0-9_-]*)(?:\s+(.*))?", re.DOTALL)


def list_commands(terminal: Terminal) -> list[Command]:
    """Return all commands; those that the user or the project wrote come last."""
    return [*COMMANDS, *make_own_commands(terminal.own_commands, COMMANDS)]


def find_command(text: str, commands: Sequence[Command] = COMMANDS) -> tuple[Command, str] | None:
    """Return the command that an input calls and what follows it, or None for a question.

    A path such as /etc/hosts is not a command. Raises InputError if there is no such command.
    """
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    name = _OTHER_NAMES.get(found[1], found[1])
    by_name = {command.name: command for command in commands}
    if name not in by_name:
        like = difflib.get_close_matches(name, by_name, 1)
        hint = f" Did you mean /{like[0]}?" if like else " /help lists them."
        raise InputError(f"There is no command /{name}.{hint}")
    return by_name[name], (found[2] or "").strip()


def make_own_commands(files: Sequence[PromptFile], taken: Sequence[Command]) -> list[Command]:
    """Return the commands of files; one with the name of another command is left out."""
    names = {command.name for command in taken}
    return [_make_command(file) for file in files if file.name not in names]


def _make_command(file: PromptFile) -> Command:
    async def run(terminal: Terminal, argument: str) -> None:
        await terminal.ask(expand_arguments(file.body, argument))

    return Command(file.name, file.argument_hint, file.description, run, is_turn=True)


def list_purposes(terminal: Terminal) -> dict[str, str]:
    """Return the purpose of every command, including those that servers offer now."""
    own = {f"/{one.name}": one.purpose for one in list_commands(terminal)}
    return {**own, **list_prompts(terminal)}


async def handle_input(terminal: Terminal, text: str) -> None:
    """Do what an input says: a command, or a question."""
    is_turn = True
    try:
        if (line := find_shell_command(text)) is not None:
            is_turn = False
            await run_shell_command(terminal, line)
        elif (note := find_note(text)) is not None:
            is_turn = False
            await keep_note(terminal, *note)
        elif (found := find_command(text, list_commands(terminal))) is not None:
            command, argument = found
            is_turn = command.is_turn
            await command.run(terminal, argument)
        elif (wanted := find_prompt(terminal, text)) is not None:
            await use_prompt(terminal, wanted)
        else:
            await terminal.ask(text)
    except asyncio.CancelledError:
        terminal.screen.say(INTERRUPTED if is_turn else "Interrupted.", "yellow")
        raise
    except RagForgeError as error:
        log.error("The input failed: %s", error)
        terminal.screen.problem(str(error))
    except Exception as error:  # a bug costs a turn, not the session
        log.exception("The input failed")
        if os.environ.get("RAGFORGE_DEBUG"):
            terminal.screen.note(traceback.format_exc())
        text = " ".join(str(error).split()).rstrip(".")
        name = type(error).__name__
        terminal.screen.problem(f"Something unexpected went wrong: {name}: {text}.")


NO_TEXT = (
    "Write what to remember after the #, such as # The tests need Java. "
    "#! keeps it as a rule, which is part of every request."
)
# Several lines are a question, and so is one about #12 or with a heading (##).
_NOTE = re.compile(r"#(?![#\d])(!?)(.*)")


def find_note(text: str) -> tuple[str, bool] | None:
    """Return the note that an input keeps and whether it is a rule, or None for another input."""
    found = _NOTE.fullmatch(text.strip())
    return None if found is None else (found[2].strip(), bool(found[1]))


async def keep_note(terminal: Terminal, text: str, is_rule: bool) -> None:
    """Keep a note of this project, and show what was kept."""
    if not text:
        raise InputError(NO_TEXT)
    notes, screen, session = terminal.app.notes, terminal.screen, terminal.session
    note = await notes.remember(
        text, rule=is_rule, conversation=None if session is None else session.uuid
    )
    linked = await notes.find_corrections(newer=note, linked=True)
    doubtful = await notes.find_corrections(newer=note)
    for line in format_kept(note, linked, doubtful):
        screen.say(line)
    screen.say(f"  {note.text}")
    screen.note(f"ragforge memory forget-note {shorten_id(note.uuid)} deletes it.")
