"""State: the global options, and what a command works with: settings and the application."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ragforge.domain.modes import Mode
from ragforge.errors import InputError
from ragforge.show.themes import use_theme

if TYPE_CHECKING:
    from ragforge.app import App, Code
    from ragforge.config import Loaded, Settings

T = TypeVar("T")
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
ModeOption = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        help="Ask before each change (the default), only plan, or edit files without asking.",
    ),
]


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """What stands before the command."""

    store: str | None = None
    model: str | None = None
    debug: bool = False

    @property
    def settings(self) -> dict[str, object]:
        """The settings among them."""
        return {"store.url": self.store, "llm.model": self.model}


def get_current_directory() -> Path:
    """Return the working directory. Raises InputError if it is gone."""
    try:
        return Path.cwd()
    except OSError as error:
        raise InputError("The current directory no longer exists. Change to another.") from error


def load(context: typer.Context, *, asks: bool = False, quiet: bool = False) -> Loaded:
    """Return the settings for this command, and open its log. Raises SettingsError.

    A folder that nobody has decided about is asked about, with `asks` and in a terminal; else
    its files are ignored, and unless `quiet` a line says so.
    """
    from ragforge.app import log  # help needs neither a log nor settings
    from ragforge.config import load_settings

    options: GlobalOptions = context.obj
    here = get_current_directory()
    loaded = load_settings(here, options.settings)
    if not quiet and (asks or loaded.project is not None):
        from ragforge.cli import trust_questions  # most commands find nothing to trust

        if not asks or not trust_questions.is_somebody_there():
            trust_questions.note_ignored(loaded, here, instructions=asks)
        elif trust_questions.ask_about_folder(loaded.settings, here):
            loaded = load_settings(here, options.settings)
    use_theme(loaded.settings.terminal.theme)
    folder = Path(loaded.settings.agent.state_dir)
    log.open_log(folder, os.environ.get(log.VARIABLE), debug=options.debug)
    return loaded


def use_app(
    context: typer.Context,
    work: Callable[[App], Awaitable[T]],
    *,
    folder: Path | None = None,
    detach: bool = False,
    asks: bool = False,
    before: Callable[[Settings], object] | None = None,
) -> T:
    """Open the application in a folder, or here, do some work with it, and close it.

    `asks` is for work that follows a project's instructions; `before` runs with the settings,
    before anything is opened.
    """
    import asyncio

    settings = load(context, asks=asks).settings
    if before is not None:
        before(settings)

    async def run() -> T:
        from ragforge.app import open_app

        async with open_app(settings, folder or get_current_directory(), detach=detach) as app:
            _note_read_only(app.store.read_only, settings.store.url)
            return await work(app)

    return asyncio.run(run())


def use_code(
    context: typer.Context,
    folder: Path,
    work: Callable[[Code], Awaitable[T]],
    *,
    before: Callable[[Settings], object] | None = None,
) -> T:
    """Open the code of the project around a folder, do some work with it, and close it."""
    import asyncio

    settings = load(context).settings
    if before is not None:
        before(settings)

    async def run() -> T:
        from ragforge.app import open_code

        async with open_code(settings, folder) as code:
            return await work(code)

    return asyncio.run(run())


def _note_read_only(read_only: bool, location: str) -> None:
    if read_only:
        from ragforge.show.console import print_note

        print_note(f"{location} cannot be written to: it is read, and nothing is remembered.")


def require_terminal() -> None:
    """Raise BadParameter if there is nobody to ask."""
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody can be asked here: add --yes", param_hint="--yes")


def confirm(question: str) -> None:
    """Continue only if the user says yes. Raises Abort if not, BadParameter if nobody is there."""
    require_terminal()
    typer.confirm(question, abort=True, err=True)
