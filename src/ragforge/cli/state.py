"""State: the global options, and the settings that a command works with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.errors import InputError

if TYPE_CHECKING:
    from ragforge.config import Loaded

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """What stands before the command."""

    store: str | None = None


def current_directory() -> Path:
    """Return the working directory. Raises InputError if it is gone."""
    try:
        return Path.cwd()
    except OSError as error:
        raise InputError("The current directory no longer exists. Change to another.") from error


def load(context: typer.Context) -> Loaded:
    """Return the settings for this command. Raises SettingsError."""
    from ragforge.config import load_settings  # help needs no settings

    options: GlobalOptions = context.obj
    return load_settings(current_directory(), {"store.url": options.store})
