"""The loop: ask for input, do what it says, until the user leaves."""

from __future__ import annotations

import asyncio
import gc
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from ragforge.domain.text import new_id
from ragforge.errors import InputError
from ragforge.private_files import create_private_file, make_private_folder
from ragforge.tui.keyboard import hide_typing, read_typed_lines
from ragforge.tui.pastes import name_picture
from ragforge.tui.prompt import Actions, InputCompleter, Prompt
from ragforge.tui.toolbar import format_mode, format_toolbar, watch_jobs

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

AFTER_PROMPT_SECONDS = 0.3
"""When work in the background begins: the prompt comes first."""
LEAVING = "Ctrl-C again, or Ctrl-D, quits."
LEAVING_SECONDS = 2.0
"""How soon the second Ctrl-C must follow."""
PNG = b"\x89PNG\r\n\x1a\n"
PROGRAMS = (
    ("wl-paste", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),  # macOS
)
SECONDS = 5
NO_PICTURE = "There is no image in the clipboard."
NO_PROGRAM = (
    "The clipboard cannot be read without wl-paste, xclip or pngpaste. "
    "Install one, or name a file: @shot.png"
)


async def converse(terminal: Terminal) -> None:
    """Take input until the user leaves; nothing that fails ends the session."""
    app = terminal.app
    prompt = Prompt(
        InputCompleter(lambda: _list_purposes(terminal), lambda: _list_named(terminal)),
        open_history(
            Path(app.settings.agent.state_dir),
            lambda text: app.redact(terminal.typing.pastes.expand(text)),
        ),
        terminal.screen.signs,
        lambda: format_toolbar(terminal),
        Actions(
            lambda: _show_session(terminal), terminal.change_mode, lambda: _paste_picture(terminal)
        ),
        {str(key): f"/resume {one.uuid}" for key, one in enumerate(terminal.offered, 1)},
        lambda: format_mode(terminal.mode),
        terminal.typing.pastes,
        app.settings.terminal.editing,
    )
    terminal.typing.remember = prompt.history.append_string
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
    """Load what the first input needs: the prompt is shown before."""
    import ragforge.show.turn_view
    import ragforge.tui.commands.all
    import ragforge.tui.permission  # noqa: F401


def _list_purposes(terminal: Terminal) -> Mapping[str, str]:
    from ragforge.tui.commands.all import list_purposes

    return list_purposes(terminal)


def _list_named(terminal: Terminal) -> Sequence[str]:
    from ragforge.tui.commands.settings import list_named

    return list_named(terminal)


async def _show_session(terminal: Terminal) -> None:
    from ragforge.tui.transcript import show_session

    await show_session(terminal)


async def _take_input(terminal: Terminal, prompt: Prompt) -> None:
    """Ask for input and do what it says."""
    warned_at: float | None = None
    while not terminal.is_leaving:
        # command files may have been added or removed
        terminal.own_commands = await asyncio.to_thread(terminal.app.prompts.find, "commands")
        try:
            text = _take_sent(terminal) or await prompt.ask(_take_draft(terminal))
        except EOFError:
            return
        except KeyboardInterrupt:
            pressed_at = time.monotonic()
            if is_second_press(warned_at, pressed_at) and prompt.was_one_key:
                return
            warned_at = pressed_at
            terminal.screen.note(LEAVING)
            continue
        warned_at = None
        if text.strip():
            from ragforge.tui.commands.all import handle_input

            if not await terminal.work.run(handle_input(terminal, text)):
                terminal.draft = terminal.typing.take_all()


def _take_sent(terminal: Terminal) -> str:
    """Return the next input that was sent during the last one, and show it; or nothing."""
    if text := terminal.typing.take_next():
        terminal.show_sent(text)
    return terminal.typing.pastes.expand(text)


def _take_draft(terminal: Terminal) -> str:
    """Return what the prompt begins with: text of a command, and what was typed during it."""
    texts = terminal.draft, terminal.typing.take_line()
    terminal.draft = ""
    return "\n".join(filter(None, texts))


def is_second_press(warned_at: float | None, pressed_at: float) -> bool:
    """Tell whether a Ctrl-C is the second of two: it follows the warning at once."""
    return warned_at is not None and pressed_at - warned_at <= LEAVING_SECONDS


def save_picture(folder: Path) -> Path:
    """Save the picture in the clipboard to a private file; return the file.

    Raises InputError if there is none, or if it cannot be read or saved.
    """
    found = [program for program in PROGRAMS if shutil.which(program[0])]
    if not found:
        raise InputError(NO_PROGRAM)
    data = next((data for one in found if (data := _run(one)).startswith(PNG)), None)
    if data is None:
        raise InputError(NO_PICTURE)
    file = folder / f"{new_id()}.png"
    try:
        make_private_folder(folder)
        create_private_file(file)
        file.write_bytes(data)
    except OSError as error:
        raise InputError(f"The image cannot be saved in {folder}: {error.strerror}.") from error
    return file


def _run(program: tuple[str, ...]) -> bytes:
    try:
        done = subprocess.run(
            program, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return b""
    return done.stdout


class InputHistory(FileHistory):
    """The lines of all terminals in one file; a secret is recalled in its own terminal only."""

    def __init__(self, file: Path, redact: Callable[[str], str]) -> None:
        super().__init__(str(file))
        self._file = file
        self._redact = redact

    def store_string(self, string: str) -> None:
        with suppress(OSError):  # a full disk costs the history, not the session
            create_private_file(self._file)  # it may have been removed meanwhile
            super().store_string(self._redact(string))


def open_history(folder: Path, redact: Callable[[str], str]) -> History:
    """Return the history in a folder, or one that lasts as long as the terminal.

    What is written to the file is redacted first.
    """
    file = folder / "history"
    try:
        make_private_folder(folder)
        create_private_file(file)
        with file.open("a"):  # it can be written
            pass
    except OSError:
        return InMemoryHistory()
    return InputHistory(file, redact)
