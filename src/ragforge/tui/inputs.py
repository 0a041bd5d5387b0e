"""Inputs: do what an input says, be it a command, a line for the shell or a question."""

from __future__ import annotations

import asyncio
import logging
import os
import traceback
from typing import TYPE_CHECKING

from ragforge.errors import RagForgeError
from ragforge.tui.commands.all import find_command, list_commands
from ragforge.tui.commands.servers import find_prompt, list_prompts, use_prompt
from ragforge.tui.commands.shell import find_shell_command, run_shell_command

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

log = logging.getLogger(__name__)

INTERRUPTED = "Interrupted. What was done is kept; /retry resumes it."


def list_purposes(terminal: Terminal) -> dict[str, str]:
    """Return what every command is for, also those that servers offer at the moment."""
    own = {f"/{one.name}": one.purpose for one in list_commands(terminal)}
    return {**own, **list_prompts(terminal)}


async def handle_input(terminal: Terminal, text: str) -> None:
    """Do what an input says: a command, or a question."""
    is_turn = True
    try:
        if (line := find_shell_command(text)) is not None:
            is_turn = False
            await run_shell_command(terminal, line)
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
