"""The program `ragforge`: its global options, its commands, its exit codes."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Annotated

import typer

from ragforge import __version__
from ragforge.cli.arguments import (
    clean,
    expand_terminal_options,
    find_command,
    move_global_options_first,
    wants_debug,
)
from ragforge.cli.exit_codes import FAILED, INTERRUPTED, MISUSED
from ragforge.cli.state import GlobalOptions, ModeOption, get_current_directory, load
from ragforge.cli.system_errors import explain_system_error
from ragforge.domain.modes import Mode
from ragforge.errors import RagForgeError, SettingsError
from ragforge.show.console import print_error

log = logging.getLogger(__name__)

DEBUG_VARIABLE = "RAGFORGE_DEBUG"
COLLECT_EVERY = (50_000, 500)
"""What a command loads stays in use: collecting garbage more often costs more than it frees."""

HELP = """RagForge: a coding agent that remembers.

Without a command it opens a terminal to talk in: a new session of this directory, or an
earlier one with -c or -r. Type /help there.
"""

EXAMPLES = """\b
Examples:
  ragforge
  ragforge -c
  ragforge -r
  ragforge ask "How did we fix the login loop?"
  git diff | ragforge -p "Is this right?"
  ragforge search "where are passwords checked"
  ragforge doctor

\b
Exit codes:
  0    done
  1    something failed; one sentence on stderr says what
  2    wrong arguments or settings
  3    an answer is missing or broke off, or something could not be searched
  129  ended by SIGHUP, 130 interrupted, 143 ended by SIGTERM

\b
Files:
  ragforge.config.yaml in the project, once you trust it (`ragforge trust`), and one of the
  user: see `ragforge config show`.
"""

COMMANDS = {
    "ask": "ask",
    "search": "search",
    "context": "context",
    "ingest": "brain",
    "watch": "brain",
    "status": "brain",
    "pages": "brain",
    "forget": "brain",
    "import": "imports",
    "sessions": "sessions",
    "memory": "memory",
    "store": "store",
    "config": "config",
    "model": "model",
    "mcp": "mcp",
    "servers": "servers",
    "acp": "acp",
    "check-command": "check_command",
    "permissions": "permissions",
    "trust": "trust",
    "distrust": "trust",
    "connect": "connect",
    "disconnect": "connect",
    "hook": "hook",
    "doctor": "doctor",
}
"""The module of each command."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ragforge {__version__}")
        raise typer.Exit


def read_options(
    context: typer.Context,
    store_url: Annotated[
        str | None,
        typer.Option("--store", metavar="URL", help="The store: a path, or a Neo4j URL."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Who answers, such as ollama:qwen3, or none."),
    ] = None,
    debug: Annotated[  # read before parsing, so that it covers parsing too
        bool, typer.Option("--debug", help="Show tracebacks, and write everything to the log.")
    ] = False,
    go_on: Annotated[
        bool, typer.Option("-c", "--continue", help="Resume the last session here.")
    ] = False,
    resume: Annotated[
        str | None,
        typer.Option(
            "-r",
            "--resume",
            metavar="[ID]",
            help="Resume a session: the start of its id, or nothing to choose from all.",
        ),
    ] = None,
    question: Annotated[  # turned into `ask` before parsing; here for the help
        str | None,
        typer.Option("-p", metavar="QUESTION", help="The same as `ragforge ask QUESTION`."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="In the terminal: the model's reasoning in full.")
    ] = False,
    mode: ModeOption = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Keep the global options for the command; without one, open the terminal."""
    debug = debug or wants_debug((), os.environ.get(DEBUG_VARIABLE))
    context.obj = GlobalOptions(store=store_url, model=model, debug=debug)
    if context.invoked_subcommand is not None:
        if go_on or resume is not None or verbose or mode is not None:
            raise typer.BadParameter(
                "-c, -r, --verbose and --mode before a command are for the terminal"
            )
    elif sys.stdin.isatty() and sys.stdout.isatty():
        open_terminal(context, go_on=go_on, resume=resume, verbose=verbose, mode=mode or "ask")
    elif go_on or resume is not None:
        raise typer.BadParameter("this needs a terminal; `ragforge ask -c` needs none")
    else:
        typer.echo(context.get_help())


def open_terminal(
    context: typer.Context, *, go_on: bool, resume: str | None, verbose: bool, mode: Mode
) -> None:
    """Open the terminal until the user leaves."""
    from ragforge.cli.trust_questions import settle_reading

    settings, here = load(context, asks=True).settings, get_current_directory()
    settle_reading(settings, here)
    from ragforge.tui.start import Beginning, start

    start(settings, here, Beginning(go_on, resume, verbose, mode))


@cache
def build_program(command: str | None) -> typer.Typer:
    """Return the program with the command that is wanted, or with all if it is none of them.

    Loading all of them takes as long as many commands run.
    """
    app = typer.Typer(
        name="ragforge",
        help=HELP,
        epilog=EXAMPLES,
        invoke_without_command=True,
        # Plain help: readable in a pipe, and a third of the start-up time.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(read_options)
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
    debug = wants_debug(cleaned, os.environ.get(DEBUG_VARIABLE))
    ordered = expand_terminal_options(move_global_options_first(cleaned))
    try:
        build_program(find_command(ordered))(ordered, prog_name="ragforge")
    except SystemExit as stop:
        return _exit_code(stop)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _close_quietly()
        return FAILED
    except RagForgeError as error:
        log.error("The command failed: %s", error, exc_info=debug)
        _print_traceback(debug)
        print_error(str(error))
        return MISUSED if isinstance(error, SettingsError) else FAILED
    except Exception as error:
        log.exception("The command failed")
        _print_traceback(debug)
        if sentence := explain_system_error(error):
            print_error(sentence)
            return FAILED
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
    """Discard the last flush of the interpreter: nobody reads it any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
