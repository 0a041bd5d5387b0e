"""Loading: the settings for one run of the program, with its global options."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.errors import InputError
from ragforge.records import dataclass
from ragforge.show.themes import use_theme

if TYPE_CHECKING:
    from ragforge.config import Loaded


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


def load_with(options: GlobalOptions, *, asks: bool = False, quiet: bool = False) -> Loaded:
    """Return the settings for this run, and open its log. Raises SettingsError.

    A folder that nobody has decided about is asked about, with `asks` and in a terminal; else
    its files are ignored, and unless `quiet` a line says so.
    """
    from ragforge.app.wiring import log  # help needs neither a log nor settings

    here = get_current_directory()
    with _without_plugins():
        from ragforge.config import load_settings

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


@contextmanager
def _without_plugins() -> Iterator[None]:
    """Have pydantic look for no plugins: it would read what every installed package offers."""
    name = "PYDANTIC_DISABLE_PLUGINS"
    if name in os.environ:
        yield
        return
    os.environ[name] = "__all__"
    try:
        yield
    finally:
        del os.environ[name]  # programs that are started later have their own
