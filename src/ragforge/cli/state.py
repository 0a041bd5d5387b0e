"""State: the application that a command works with, and the questions it asks first."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.trust_questions import ask_yes_or_no
from ragforge.show.console import print_note
from ragforge.show.project import format_moved

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.features.code import Code
    from ragforge.config import Settings
    from ragforge.domain.projects import ProjectPlace


@asynccontextmanager
async def open_here(
    settings: Settings | None = None, *, folder: Path | None = None, detach: bool = False
) -> AsyncIterator[App]:
    """Open the application in a folder, by default this one, until the end of the block."""
    from ragforge.app import open_app  # slow to load: many commands open nothing

    settings = settings or load().settings
    async with open_app(settings, folder or get_current_directory(), detach=detach) as app:
        if app.store.read_only:
            print_note(f"{settings.store.url} is read-only: nothing new is remembered.")
        _note_moved(app.project)
        yield app


@asynccontextmanager
async def open_code_in(folder: Path, settings: Settings | None = None) -> AsyncIterator[Code]:
    """Open the code of the project around a folder until the end of the block."""
    from ragforge.app.features.code import open_code

    async with open_code(settings or load().settings, folder) as code:
        _note_moved(code.brain.place)
        yield code


def _note_moved(place: ProjectPlace) -> None:
    if place.former_remote is not None:
        print_note(format_moved(place))


def require_terminal() -> None:
    """Raise BadParameter if there is no terminal to ask in."""
    if not sys.stdin.isatty():
        raise typer.BadParameter(
            "there is no terminal to ask in: add --yes to continue without asking",
            param_hint="--yes",
        )


def confirm(question: str) -> None:
    """Continue only if the user says yes. Raises Abort if not, BadParameter without a terminal."""
    require_terminal()
    if not ask_yes_or_no(question):
        raise typer.Abort
