"""Loading: the settings for one run of the program, and its terminal."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.domain.modes import Mode
from ragforge.errors import InputError
from ragforge.records import dataclass
from ragforge.show.console import use_plain, use_theme

if TYPE_CHECKING:
    from ragforge.config import Loaded, Settings


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """The options of every command."""

    store: str | None = None
    model: str | None = None
    debug: bool = False

    @property
    def settings(self) -> dict[str, object]:
        """The settings among them."""
        return {"store.url": self.store, "llm.model": self.model}


_OPTIONS: ContextVar[GlobalOptions] = ContextVar("options")


def use_options(options: GlobalOptions) -> None:
    """Use these options for the command that runs."""
    _OPTIONS.set(options)


def get_options() -> GlobalOptions:
    """Return the options of the command that runs."""
    return _OPTIONS.get()


def get_current_directory() -> Path:
    """Return the working directory. Raises InputError if it no longer exists."""
    try:
        return Path.cwd()
    except OSError as error:
        raise InputError("The current directory no longer exists. Change to another.") from error


def load(
    options: GlobalOptions | None = None, *, asks: bool = False, quiet: bool = False
) -> Loaded:
    """Return the settings for the command that runs, and open its log. Raises SettingsError.

    With `asks` and in a terminal, the user decides about a folder that is not trusted yet.
    Otherwise its settings are ignored, and unless `quiet` a line says so.
    """
    options = options or _OPTIONS.get()
    here = get_current_directory()
    with without_plugins():
        from ragforge.config import load_settings  # help needs no settings

        loaded = load_settings(here, options.settings)
    if not quiet and (asks or loaded.project is not None):
        from ragforge.cli import trust_questions  # most commands find nothing to trust

        if not asks or not trust_questions.can_ask():
            trust_questions.note_ignored(loaded, here, instructions=asks)
        elif trust_questions.ask_about_folder(loaded.settings, here):
            loaded = load_settings(here, options.settings)
    use_theme(loaded.settings.terminal.theme)
    use_plain(loaded.settings.terminal.plain)
    _open_log(loaded.settings, options.debug)
    return loaded


def load_quietly(folder: Path, options: GlobalOptions) -> Settings:
    """Return the settings of a folder for a server, and open its log. Raises SettingsError."""
    from ragforge.config import load_settings

    settings = load_settings(folder, options.settings).settings
    _open_log(settings, options.debug)
    return settings


def _open_log(settings: Settings, debug: bool) -> None:
    from ragforge.app.wiring import log  # help needs no log

    log.open_log(Path(settings.agent.state_dir), os.environ.get(log.VARIABLE), debug=debug)


@contextmanager
def without_plugins() -> Iterator[None]:
    """Keep pydantic from looking for plugins: it would read the metadata of every package."""
    name = "PYDANTIC_DISABLE_PLUGINS"
    if name in os.environ:
        yield
        return
    os.environ[name] = "__all__"
    try:
        yield
    finally:
        del os.environ[name]  # child processes decide for themselves


def open_terminal(
    options: GlobalOptions,
    *,
    resume_last: bool = False,
    resume: str | None = None,
    verbose: bool = False,
    mode: Mode = "ask",
) -> None:
    """Open the terminal until the user leaves."""
    gc.disable()  # what is loaded stays; collection starts again when the prompt is shown
    from ragforge.cli.trust_questions import settle_reading

    settings, here = load(options, asks=True).settings, get_current_directory()
    settle_reading(settings, here)
    from ragforge.tui.start import Beginning, start

    start(settings, here, Beginning(resume_last, resume, verbose, mode))
