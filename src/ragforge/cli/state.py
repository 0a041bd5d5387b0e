"""State: the global options, and the settings that a command works with."""

from __future__ import annotations

import os
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
    debug: bool = False


def current_directory() -> Path:
    """Return the working directory. Raises InputError if it is gone."""
    try:
        return Path.cwd()
    except OSError as error:
        raise InputError("The current directory no longer exists. Change to another.") from error


def load(context: typer.Context) -> Loaded:
    """Return the settings for this command, and open its log. Raises SettingsError."""
    from ragforge.app import log  # help needs neither a log nor settings
    from ragforge.config import load_settings

    options: GlobalOptions = context.obj
    loaded = load_settings(current_directory(), {"store.url": options.store})
    folder = Path(loaded.settings.agent.state_dir)
    log.open_log(folder, os.environ.get(log.VARIABLE), debug=options.debug)
    return loaded
