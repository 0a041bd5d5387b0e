"""Commands: all that can be typed after `/`, one room a file."""

from __future__ import annotations

import difflib
import re

from ragforge.errors import InputError
from ragforge.tui.commands import about, calls, memory, permissions, sessions, turns
from ragforge.tui.commands.command import Command

COMMANDS: tuple[Command, ...] = (
    *about.COMMANDS,
    *turns.COMMANDS,
    *calls.COMMANDS,
    *sessions.COMMANDS,
    *memory.COMMANDS,
    *permissions.COMMANDS,
)
_OTHER_NAMES = {"exit": "quit", "new": "clear", "?": "help"}
_COMMAND = re.compile(r"/([a-z?]+)(?:\s+(.*))?", re.DOTALL)


def command_of(text: str) -> tuple[Command, str] | None:
    """Return the command that an input calls, and what follows it; None for a question.

    A path such as /etc/hosts is no command. Raises InputError if there is no such command.
    """
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    name = _OTHER_NAMES.get(found[1], found[1])
    known = {command.name: command for command in COMMANDS}
    if name not in known:
        like = difflib.get_close_matches(name, known, 1)
        hint = f" Did you mean /{like[0]}?" if like else " /help lists them."
        raise InputError(f"There is no command /{name}.{hint}")
    return known[name], (found[2] or "").strip()
