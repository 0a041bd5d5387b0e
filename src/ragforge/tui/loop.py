"""The loop: ask for input, do what it says, until the user leaves."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.application import run_in_terminal

from ragforge.errors import InputError
from ragforge.tui.clipboard import save_picture
from ragforge.tui.commands.modes import change_mode
from ragforge.tui.completion import InputCompleter
from ragforge.tui.history import open_history
from ragforge.tui.keyboard import hide_typing, read_typed_lines
from ragforge.tui.pastes import Pastes, name_picture
from ragforge.tui.prompt import Actions, Prompt
from ragforge.tui.toolbar import format_mode, format_toolbar, watch_jobs

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

AFTER_PROMPT_SECONDS = 0.3
"""When work in the background begins: nobody waits for it to be able to type."""
LEAVING = "Ctrl-C again, or Ctrl-D, quits."


async def converse(terminal: Terminal) -> None:
    """Take input until the user leaves; nothing that fails ends the session."""
    app = terminal.app
    pastes = Pastes()
    prompt = Prompt(
        InputCompleter(lambda: _list_purposes(terminal), lambda: _list_named(terminal)),
        open_history(
            Path(app.settings.agent.state_dir), lambda text: app.redact(pastes.expand(text))
        ),
        terminal.screen.signs,
        lambda: format_toolbar(terminal),
        Actions(
            lambda: _expand_last(terminal),
            lambda: change_mode(terminal),
            lambda: _paste_picture(terminal),
        ),
        {str(key): f"/resume {one.uuid}" for key, one in enumerate(terminal.offered, 1)},
        lambda: format_mode(terminal.mode),
        pastes,
    )
    prompt.type_ahead(read_typed_lines())
    following = asyncio.create_task(watch_jobs(terminal, prompt.redraw))
    preparing = asyncio.create_task(_prepare(terminal))
    try:
        with hide_typing():
            await _take_input(terminal, prompt)
    finally:
        following.cancel()
        preparing.cancel()


async def _paste_picture(terminal: Terminal) -> str:
    """Return the name of the picture in the clipboard; without one, say so and return nothing."""
    folder = Path(terminal.app.settings.agent.state_dir) / "pictures"
    try:
        return name_picture(await asyncio.to_thread(save_picture, folder))
    except InputError as error:
        problem = str(error)
    await run_in_terminal(lambda: terminal.screen.note(problem))
    return ""


async def _prepare(terminal: Terminal) -> None:
    """Once the prompt is there, load what the first input needs, and connect to servers."""
    await asyncio.sleep(AFTER_PROMPT_SECONDS)
    await asyncio.to_thread(_load)
    gc.enable()
    if terminal.app.model is not None:
        terminal.app.servers.start()


def _load() -> None:
    """Load what is needed from the first input on, which nobody waits for at the start."""
    import ragforge.show.turn_view
    import ragforge.tui.inputs
    import ragforge.tui.permission  # noqa: F401


def _list_purposes(terminal: Terminal) -> Mapping[str, str]:
    from ragforge.tui.inputs import list_purposes

    return list_purposes(terminal)


def _list_named(terminal: Terminal) -> Sequence[str]:
    from ragforge.tui.commands.servers import list_named

    return list_named(terminal)


def _expand_last(terminal: Terminal) -> None:
    from ragforge.tui.commands.calls import expand_last

    expand_last(terminal)


async def _take_input(terminal: Terminal, prompt: Prompt) -> None:
    """Ask for input and do what it says."""
    warned = False
    while not terminal.is_leaving:
        # files of the user's own may have come or gone
        terminal.own_commands = await asyncio.to_thread(terminal.app.prompts.find, "commands")
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
            from ragforge.tui.inputs import handle_input

            await terminal.work.run(handle_input(terminal, text))
