"""Start: the program, with a short way in for what is started all the time."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the program with the arguments of the process.

    `ragforge hook` and `ragforge mcp` are answered, and the terminal is opened, without loading
    the other commands.
    """
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and not {"-h", "--help"}.intersection(arguments):
        gc.disable()  # the process ends before there is much to collect
        from ragforge.cli.hook import run_hook

        run_hook(arguments[1:])
    if "mcp" in arguments[:3]:
        from ragforge.cli.commands.mcp import run_plain

        code = run_plain(arguments)
        if code is not None:
            sys.exit(code)
    if not arguments and sys.stdin.isatty() and sys.stdout.isatty():
        from ragforge.cli.guard import run_process
        from ragforge.cli.terminal import run_plain as open_plain_terminal

        run_process(open_plain_terminal)
    from ragforge.cli.main import main as run_program

    run_program()
