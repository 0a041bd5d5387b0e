"""The loop: ask for input, do what it says, until the user leaves."""

from __future__ import annotations

import asyncio
import logging
import os
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.application import run_in_terminal

from ragforge.errors import InputError, RagForgeError
from ragforge.tui.clipboard import save_picture
from ragforge.tui.commands.all import find_command, list_commands
from ragforge.tui.commands.calls import expand_last
from ragforge.tui.commands.modes import change_mode
from ragforge.tui.commands.servers import find_prompt, list_named, list_prompts, use_prompt
from ragforge.tui.commands.shell import find_shell_command, run_shell_command
from ragforge.tui.completion import InputCompleter
from ragforge.tui.history import open_history
from ragforge.tui.keyboard import hide_typing, read_typed_lines
from ragforge.tui.pastes import Pastes, name_picture
from ragforge.tui.prompt import Actions, Prompt
from ragforge.tui.toolbar import format_mode, format_toolbar, watch_jobs

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

log = logging.getLogger(__name__)

INTERRUPTED = "Interrupted. What was done is kept; /retry resumes it."
AFTER_PROMPT_SECONDS = 0.3
"""When work in the background begins: nobody waits for it to be able to type."""
LEAVING = "Ctrl-C again, or Ctrl-D, quits."


async def converse(terminal: Terminal) -> None:
    """Take input until the user leaves; nothing that fails ends the session."""
    app = terminal.app
    purposes: dict[str, str] = {}
    pastes = Pastes()
    prompt = Prompt(
        InputCompleter(purposes, lambda: list_named(terminal), lambda: list_prompts(terminal)),
        open_history(
            Path(app.settings.agent.state_dir), lambda text: app.redact(pastes.expand(text))
        ),
        terminal.screen.signs,
        lambda: format_toolbar(terminal),
        Actions(
            lambda: expand_last(terminal),
            lambda: change_mode(terminal),
            lambda: _paste_picture(terminal),
        ),
        {str(key): f"/resume {one.uuid}" for key, one in enumerate(terminal.offered, 1)},
        lambda: format_mode(terminal.mode),
        pastes,
    )
    prompt.type_ahead(read_typed_lines())
    following = asyncio.create_task(watch_jobs(terminal, prompt.redraw))
    connecting = asyncio.create_task(_connect_servers(terminal))
    try:
        with hide_typing():
            await _take_input(terminal, prompt, purposes)
    finally:
        following.cancel()
        connecting.cancel()


async def _paste_picture(terminal: Terminal) -> str:
    """Return the name of the picture in the clipboard; without one, say so and return nothing."""
    folder = Path(terminal.app.settings.agent.state_dir) / "pictures"
    try:
        return name_picture(await asyncio.to_thread(save_picture, folder))
    except InputError as error:
        problem = str(error)
    await run_in_terminal(lambda: terminal.screen.note(problem))
    return ""


async def _connect_servers(terminal: Terminal) -> None:
    """Connect to servers once the prompt is there."""
    await asyncio.sleep(AFTER_PROMPT_SECONDS)
    if terminal.app.model is not None:
        terminal.app.servers.start()


async def _find_commands(terminal: Terminal, purposes: dict[str, str]) -> None:
    """Find all commands anew: files of the user's own may have come or gone."""
    terminal.own_commands = await asyncio.to_thread(terminal.app.prompts.find, "commands")
    purposes.clear()
    purposes.update((f"/{one.name}", one.purpose) for one in list_commands(terminal))


async def _take_input(terminal: Terminal, prompt: Prompt, purposes: dict[str, str]) -> None:
    """Ask for input and do what it says; `purposes` of commands are for completion."""
    warned = False
    while not terminal.is_leaving:
        await _find_commands(terminal, purposes)
        try:
            draft, terminal.draft = terminal.draft, ""
            text = await prompt.ask(draft)
        except EOFError:
            return
        except KeyboardInterrupt:
            if warned:
                return
            warned = True
            terminal.screen.note(LEAVING)
            continue
        warned = False
        if text.strip():
            await terminal.work.run(_handle(terminal, text))


async def _handle(terminal: Terminal, text: str) -> None:
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
