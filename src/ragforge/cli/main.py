"""The program `ragforge`: its global options, its commands, its exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.main import get_group

from ragforge import __version__
from ragforge.cli.arguments import (
    clean,
    expand_terminal_options,
    move_global_options_first,
    wants_debug,
)
from ragforge.cli.guard import run_guarded, run_process
from ragforge.cli.help_texts import CommandGroup, Group
from ragforge.cli.loading import GlobalOptions
from ragforge.cli.state import ModeOption
from ragforge.cli.terminal import DEBUG_VARIABLE, open_terminal

HELP = """RagForge: a coding agent that remembers.

Without a command it opens a terminal to talk in: a new session of this directory, or an
earlier one with -c or -r. Type /help there.
"""

COMMANDS = {
    "ask": ("ask", "Ask a question; it and the answer are remembered."),
    "search": ("search", "Search code, documents and what was said before."),
    "context": ("context", "Show what a model would be given for a message."),
    "ingest": ("brain", "Read the project's code into its graph."),
    "watch": ("brain", "Ingest changed files while you work, until Ctrl-C."),
    "status": ("brain", "Show what is known of the code and how fresh it is."),
    "pages": ("brain", "List the web pages that were read for this project."),
    "forget": ("brain", "Forget code of the project, or a web page."),
    "import": ("imports", "Import the sessions of other coding agents."),
    "sessions": ("sessions", "Show, find, branch, move and delete sessions."),
    "memory": ("memory", "Review notes, summaries and background work."),
    "remember": ("memory", "Keep a note: a decision, an insight, a preference."),
    "store": ("store", "Inspect, query, back up, repair or copy the store."),
    "config": ("config", "Show and change settings."),
    "model": ("model", "Show which models can answer, choose or try one."),
    "mcp": ("mcp", "Serve memory and code over the Model Context Protocol."),
    "servers": ("servers", "List the MCP servers that the agent uses."),
    "acp": ("acp", "Run as an editor's agent, over the Agent Client Protocol."),
    "web": ("web", "Open the page with the work of all your agents."),
    "check-command": ("check_command", "Tell whether a command line is read-only."),
    "permissions": ("permissions", "Show what the agent may do without asking."),
    "trust": ("trust", "Show what a folder would set, and trust it."),
    "distrust": ("trust", "Stop trusting a folder."),
    "connect": ("connect", "Give other coding agents this memory."),
    "disconnect": ("connect", "Remove RagForge from other agents' configuration."),
    "hook": ("hook", "Answer another agent's call, read from standard input."),
    "doctor": ("doctor", "Check the installation, the settings and the store."),
}
"""The module of each command, and what `ragforge --help` says of it."""


class Program(Group):
    """All commands. Each is loaded when it is used: together they take longer than most run."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands.update(cast("dict[str, Any]", dict.fromkeys(COMMANDS)))

    def get_command(self, context: Any, name: str) -> Any:
        """Return a command, loaded, or None if there is none of this name."""
        if name in COMMANDS and self.commands[name] is None:
            self.commands[name] = load_command(name)
        return self.commands.get(name)

    def format_commands(self, context: Any, formatter: Any) -> None:
        """Write the list of commands from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


def load_command(name: str) -> Any:
    """Return a command or a group of commands."""
    module, _ = COMMANDS[name]
    app = CommandGroup(rich_markup_mode=None)
    import_module(f"ragforge.cli.commands.{module}").register(app)
    return get_group(app).commands[name]


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
def build_program() -> Any:
    """Return the program, ready to be called with its arguments."""
    app = typer.Typer(
        cls=Program,
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
    return app


def main() -> None:
    """Run the program with the arguments of the process."""
    run_process(lambda: run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors become sentences on stderr."""
    cleaned = [clean(argument) for argument in arguments]
    debug = wants_debug(cleaned, os.environ.get(DEBUG_VARIABLE))
    ordered = expand_terminal_options(move_global_options_first(cleaned))
    return run_guarded(lambda: build_program()(ordered, prog_name="ragforge"), debug)
