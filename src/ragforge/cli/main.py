"""The program `ragforge`: its global options, its commands, its exit codes."""

from __future__ import annotations

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
from ragforge.cli.guard import run_guarded, run_process
from ragforge.cli.help_texts import CommandGroup
from ragforge.cli.loading import GlobalOptions
from ragforge.cli.state import ModeOption
from ragforge.cli.terminal import DEBUG_VARIABLE, open_terminal

HELP = """RagForge: a coding agent that remembers.

Without a command it opens a terminal to talk in: a new session of this directory, or an
earlier one with -c or -r. Type /help there.
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
    "remember": "memory",
    "store": "store",
    "config": "config",
    "model": "model",
    "mcp": "mcp",
    "servers": "servers",
    "acp": "acp",
    "web": "web",
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
    options = GlobalOptions(store=store_url, model=model, debug=debug)
    context.obj = options
    if context.invoked_subcommand is not None:
        if go_on or resume is not None or verbose or mode is not None:
            raise typer.BadParameter(
                "-c, -r, --verbose and --mode before a command are for the terminal"
            )
    elif sys.stdin.isatty() and sys.stdout.isatty():
        open_terminal(options, go_on=go_on, resume=resume, verbose=verbose, mode=mode or "ask")
    elif go_on or resume is not None:
        raise typer.BadParameter("this needs a terminal; `ragforge ask -c` needs none")
    else:
        typer.echo(context.get_help())


@cache
def build_program(command: str | None) -> typer.Typer:
    """Return the program with the command that is wanted, or with all if it is none of them.

    Loading all of them takes as long as many commands run.
    """
    app = CommandGroup(
        name="ragforge",
        help=HELP,
        epilog="ragforge",
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
    run_process(lambda: run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors become sentences on stderr."""
    cleaned = [clean(argument) for argument in arguments]
    debug = wants_debug(cleaned, os.environ.get(DEBUG_VARIABLE))
    ordered = expand_terminal_options(move_global_options_first(cleaned))
    return run_guarded(
        lambda: build_program(find_command(ordered))(ordered, prog_name="ragforge"), debug
    )
