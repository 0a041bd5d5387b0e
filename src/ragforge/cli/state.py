"""State: what a command works with: settings and the application."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ragforge.cli.loading import get_current_directory, load_with
from ragforge.domain.modes import Mode

if TYPE_CHECKING:
    from ragforge.app import App, Code
    from ragforge.config import Loaded, Settings
    from ragforge.domain.projects import ProjectPlace

T = TypeVar("T")
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
ModeOption = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        help="Ask before each change (the default), only plan, or edit files without asking.",
    ),
]


def load(context: typer.Context, *, asks: bool = False, quiet: bool = False) -> Loaded:
    """Return the settings for this command, and open its log. Raises SettingsError."""
    return load_with(context.obj, asks=asks, quiet=quiet)


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
            _note_moved(app.project)
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
            _note_moved(code.brain.place)
            return await work(code)

    return asyncio.run(run())


def _note_read_only(read_only: bool, location: str) -> None:
    if read_only:
        from ragforge.show.console import print_note

        print_note(f"{location} cannot be written to: it is read, and nothing is remembered.")


def _note_moved(place: ProjectPlace) -> None:
    if place.former_remote is not None:
        from ragforge.show.console import print_note
        from ragforge.show.project import format_moved

        print_note(format_moved(place))


def require_terminal() -> None:
    """Raise BadParameter if there is nobody to ask."""
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody can be asked here: add --yes", param_hint="--yes")


def confirm(question: str) -> None:
    """Continue only if the user says yes. Raises Abort if not, BadParameter if nobody is there."""
    require_terminal()
    typer.confirm(question, abort=True, err=True)
