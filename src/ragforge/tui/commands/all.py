"""All commands of the terminal, and /help, which lists them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.app.features.user_commands import PromptFile, expand_arguments
from ragforge.errors import InputError
from ragforge.tui.commands import (
    about,
    calls,
    commit,
    diff,
    init,
    jobs,
    memory,
    model,
    modes,
    permissions,
    rewind,
    servers,
    sessions,
    turns,
)
from ragforge.tui.commands.command import Command

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

KEYS = (
    ("1, 2, 3", "at the start: resume one of the latest sessions"),
    ("Enter", "send"),
    ("Alt-Enter, Ctrl-J", "another line"),
    ("Shift-Tab", "the next mode: ask, plan, accept edits"),
    ("!", "run a command in your shell; the model sees it with the next question"),
    ("@", "name a file of the project, or a resource of a server"),
    ("Up, Ctrl-R", "what was typed before"),
    ("Ctrl-O", "the last tool call, with all of its result"),
    ("Ctrl-X Ctrl-E", "write in your editor"),
    ("Ctrl-C", "interrupt a turn; twice at an empty prompt: quit"),
    ("Ctrl-D", "quit"),
)


async def show_help(terminal: Terminal, argument: str) -> None:
    rows = [
        (f"/{one.name} {one.arguments}".strip(), one.purpose) for one in list_commands(terminal)
    ]
    width = max(len(left) for left, _ in (*rows, *KEYS))
    for left, right in (*rows, ("", ""), *KEYS):
        terminal.screen.say(f"  {left:<{width}}  {right}".rstrip())


COMMANDS: tuple[Command, ...] = (
    Command("help", "", "All commands and keys", show_help),
    *about.COMMANDS,
    *model.COMMANDS,
    *turns.COMMANDS,
    *init.COMMANDS,
    *diff.COMMANDS,
    *rewind.COMMANDS,
    *commit.COMMANDS,
    *modes.COMMANDS,
    *calls.COMMANDS,
    *sessions.COMMANDS,
    *memory.COMMANDS,
    *jobs.COMMANDS,
    *permissions.COMMANDS,
    *servers.COMMANDS,
)
_OTHER_NAMES = {"exit": "quit", "new": "clear", "?": "help"}
_COMMAND = re.compile(r"/([a-z?][a-z0-9_-]*)(?:\s+(.*))?", re.DOTALL)


def list_commands(terminal: Terminal) -> list[Command]:
    """Return all commands, at the end those that the user or the project wrote."""
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
