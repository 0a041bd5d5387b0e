"""Terminal: open it, without loading the parser of commands where none is needed."""

from __future__ import annotations

import gc
import os

from ragforge.cli.arguments import wants_debug
from ragforge.cli.guard import run_guarded
from ragforge.cli.loading import GlobalOptions, get_current_directory, load_with
from ragforge.domain.modes import Mode

DEBUG_VARIABLE = "RAGFORGE_DEBUG"


def run_plain() -> int:
    """Open the terminal as `ragforge` without arguments does, and return the exit code."""
    debug = wants_debug((), os.environ.get(DEBUG_VARIABLE))
    return run_guarded(lambda: open_terminal(GlobalOptions(debug=debug)), debug)


def open_terminal(
    options: GlobalOptions,
    *,
    go_on: bool = False,
    resume: str | None = None,
    verbose: bool = False,
    mode: Mode = "ask",
) -> None:
    """Open the terminal until the user leaves."""
    gc.disable()  # what is loaded stays; garbage is collected again once the prompt is there
    from ragforge.cli.trust_questions import settle_reading

    settings, here = load_with(options, asks=True).settings, get_current_directory()
    settle_reading(settings, here)
    from ragforge.tui.start import Beginning, start

    start(settings, here, Beginning(go_on, resume, verbose, mode))
