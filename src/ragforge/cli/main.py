"""The program `ragforge`: its global options, its commands, its exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand
from typer.main import get_group

from ragforge import __version__
from ragforge.cli.arguments import (
    COMPLETION_VARIABLE,
    arrange,
    clean,
    rename_option,
    wants_debug,
)
from ragforge.cli.guard import run_guarded
from ragforge.cli.loading import GlobalOptions, open_terminal, use_options, without_plugins
from ragforge.cli.options import CommandGroup, Group, ModeOption, complete_session, flag, option

HELP = """RagForge: a coding agent that remembers.

Without a command it opens an interactive terminal: a new session in this directory, or an
earlier one with -c or -r. Type /help there.
"""

COMMANDS = {
    "ask": ("ask", "Ask a question; question and answer are remembered."),
    "search": ("search", "Search code, documents and past conversations."),
    "explore": ("search:explore", "List callers, members and the like of the code with a name."),
    "context": ("context", "Show the context that a model would get for a message."),
    "ingest": ("brain", "Index the project's code."),
    "watch": ("brain", "Ingest changed files while you work, until Ctrl-C."),
    "status": ("brain", "Show what is indexed of the code, and how fresh it is."),
    "pages": ("brain", "List the web pages that were read for this project."),
    "forget": ("brain", "Forget code of the project, or a web page."),
    "import": ("connect:import_", "Import the sessions of other coding agents."),
    "sessions": ("sessions:GROUP", "Show, find, branch, move and delete sessions."),
    "memory": ("memory:GROUP", "Manage notes, summaries and background work."),
    "remember": ("memory:remember", "Keep a note: a decision, an insight, a preference."),
    "today": ("today", "Show what was done, what is open and what was decided."),
    "usage": ("today:usage", "Show tokens and money that requests to models took."),
    "store": ("store:GROUP", "Inspect, query, back up, repair or copy the store."),
    "config": ("config:GROUP", "Show and change settings."),
    "model": ("model", "List the models that can answer; try and choose one."),
    "mcp": ("mcp", "Serve memory and code over the Model Context Protocol."),
    "servers": ("servers:GROUP", "List the MCP servers that the agent uses; log in."),
    "acp": ("acp", "Run as an editor's agent, over the Agent Client Protocol."),
    "web": ("web", "Open a page with the work of all your agents."),
    "check-command": ("permissions", "Tell whether a command line is read-only."),
    "permissions": ("permissions:GROUP", "Show and change what the agent may do without asking."),
    "trust": ("permissions", "Show the settings of a folder, and trust it."),
    "distrust": ("permissions", "Stop trusting a folder."),
    "connect": ("connect", "Give other coding agents this memory."),
    "disconnect": ("connect", "Remove RagForge from other agents' configuration."),
    "hook": ("connect", "Answer another agent's call, read from standard input."),
    "demo": ("demo", "Show what memory gives, in a project that removes itself."),
    "doctor": ("doctor", "Check the installation, the settings and the store."),
    "help": ("help:help_", "Read the documentation here."),
    "completion": ("completion", "Print or install completion for a shell."),
    "man": ("completion", "Print or install the manual page."),
}
"""The module of each command, its function unless that has the same name, and its summary."""


class Program(Group):
    """All commands. Each is loaded when it is used: loading all takes longer than most run."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands.update(cast("dict[str, Any]", dict.fromkeys(COMMANDS)))

    def get_command(self, context: Any, name: str) -> Any:
        """Load and return a command, or None if no command has this name."""
        if name in COMMANDS and self.commands[name] is None:
            self.commands[name] = load_command(name)
        return self.commands.get(name)

    def shell_complete(self, context: Any, incomplete: str) -> Any:
        """Return what a shell may complete; the commands come from the table, not loaded."""
        for name, (_, summary) in COMMANDS.items():
            self.commands[name] = self.commands[name] or TyperCommand(name, help=summary)
        return super().shell_complete(context, incomplete)

    def format_commands(self, context: Any, formatter: Any) -> None:
        """Write the list of commands from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


def load_command(name: str) -> Any:
    """Return a command or a group of commands."""
    module, _, function = COMMANDS[name][0].partition(":")
    with without_plugins():
        loaded = import_module(f"ragforge.cli.commands.{module}")
    command = getattr(loaded, function or name.replace("-", "_"))
    app = CommandGroup(rich_markup_mode=None)
    if isinstance(command, CommandGroup):
        app.add_typer(command, name=name)
    else:
        app.command(name, epilog=name)(command)
    return get_group(app).commands[name]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ragforge {__version__}")
        raise typer.Exit


def read_options(
    context: typer.Context,
    store_url: str | None = option("--store URL", "The store: a path or a Neo4j URL."),
    model: str | None = option("--model NAME", "The model, such as ollama:qwen3, or none."),
    debug: Annotated[  # read before parsing, so that it covers parsing too
        bool, typer.Option("--debug", help="Show tracebacks, and write everything to the log.")
    ] = False,
    resume_last: bool = flag("-c --continue", "Resume the last session here."),
    resume: str | None = option(
        "-r --resume [ID]",
        "Resume a session by its first characters; without an id, choose one.",
        autocompletion=complete_session,
    ),
    question: Annotated[  # turned into `ask` before parsing; here for the help
        str | None,
        typer.Option("-p", metavar="QUESTION", help="The same as `ragforge ask QUESTION`."),
    ] = None,
    verbose: bool = flag("--verbose", "In the terminal: show the model's full reasoning."),
    mode: ModeOption = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Store the global options for the command; without a command, open the terminal."""
    debug = debug or wants_debug()
    options = GlobalOptions(store=store_url, model=model, debug=debug)
    use_options(options)
    if context.invoked_subcommand is not None:
        if resume_last or resume is not None or verbose or mode is not None:
            raise typer.BadParameter(
                "-c, -r, --verbose and --mode before a command are only for the terminal"
            )
    elif sys.stdin.isatty() and sys.stdout.isatty():
        open_terminal(
            options, resume_last=resume_last, resume=resume, verbose=verbose, mode=mode or "ask"
        )
    elif resume_last or resume is not None:
        raise typer.BadParameter("-c and -r need a terminal; without one, use `ragforge ask -c`")
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
        add_completion=False,  # `ragforge completion` does more
        # Plain help: readable in a pipe, and a third of the start-up time.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "token_normalize_func": rename_option,
        },
    )
    app.callback()(read_options)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors become sentences on stderr."""
    cleaned = [clean(argument) for argument in arguments]
    debug = wants_debug(cleaned)
    if COMPLETION_VARIABLE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()  # answer in the form that the scripts of shells expect
    arranged = arrange(cleaned)
    return run_guarded(lambda: build_program()(arranged, prog_name="ragforge"), debug)
