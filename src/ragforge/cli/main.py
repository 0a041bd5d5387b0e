"""The program `ragforge`: its global options, its commands, its exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Annotated

import typer

from ragforge import __version__
from ragforge.cli.arguments import clean, command_in, global_options_first, wants_debug
from ragforge.cli.console import print_error
from ragforge.cli.state import GlobalOptions
from ragforge.errors import RagForgeError, SettingsError

FAILED = 1
MISUSED = 2
INTERRUPTED = 130
COLLECT_EVERY = (50_000, 500)
"""What a command loads and reads stays: looking for garbage in it takes longer than it helps."""

EXAMPLES = """\b
Examples:
  ragforge ask "How did we fix the login loop?"
  ragforge search "where are passwords checked"
  ragforge doctor
"""

COMMANDS = {
    "ask": "ask",
    "search": "search",
    "context": "context",
    "ingest": "brain",
    "watch": "brain",
    "status": "brain",
    "forget": "brain",
    "sessions": "sessions",
    "memory": "memory",
    "store": "store",
    "config": "config",
    "check-command": "check_command",
    "doctor": "doctor",
}
"""In which module each command is."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ragforge {__version__}")
        raise typer.Exit


def options(
    context: typer.Context,
    store_url: Annotated[
        str | None,
        typer.Option("--store", metavar="URL", help="The store: a path, or a Neo4j URL."),
    ] = None,
    debug: Annotated[  # read before parsing, so that it covers parsing too
        bool, typer.Option("--debug", help="Show the traceback when something fails.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Keep the global options for the command."""
    context.obj = GlobalOptions(store=store_url)


@cache
def program(command: str | None) -> typer.Typer:
    """Return the program with the command that is wanted, or with all if it is none of them.

    To load and describe all of them takes as long as many a command runs.
    """
    app = typer.Typer(
        name="ragforge",
        help="RagForge: a coding agent that remembers.",
        epilog=EXAMPLES,
        no_args_is_help=True,
        # Plain help: readable in a pipe, and a third of the start-up time.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    wanted = [COMMANDS[command]] if command in COMMANDS else dict.fromkeys(COMMANDS.values())
    for name in wanted:
        import_module(f"ragforge.cli.commands.{name}").register(app)
    return app


def main() -> None:
    """Run the program with the arguments of the process."""
    gc.set_threshold(*COLLECT_EVERY)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a narrow encoding costs letters, not the run
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _close_quietly()
    gc.freeze()  # all of it goes with the process: no need to look through it once more
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors become sentences on stderr."""
    cleaned = [clean(argument) for argument in arguments]
    debug = wants_debug(cleaned, os.environ.get("RAGFORGE_DEBUG"))
    ordered = global_options_first(cleaned)
    try:
        program(command_in(ordered))(ordered, prog_name="ragforge")
    except SystemExit as stop:
        return _exit_code(stop)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _close_quietly()
        return FAILED
    except RagForgeError as error:
        _print_traceback(debug)
        print_error(str(error))
        return MISUSED if isinstance(error, SettingsError) else FAILED
    except Exception as error:
        _print_traceback(debug)
        hint = "" if debug else " Run the command again with --debug to see where."
        print_error(f"Something unexpected went wrong: {_describe(error)}.{hint}")
        return FAILED
    return 0


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None or isinstance(stop.code, int):
        return stop.code or 0
    print_error(stop.code)
    return FAILED


def _describe(error: Exception) -> str:
    """Name the error in one line."""
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _print_traceback(debug: bool) -> None:
    if debug:
        import traceback

        traceback.print_exc()


def _close_quietly() -> None:
    """Nobody reads any more: let the last flush of the interpreter go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
