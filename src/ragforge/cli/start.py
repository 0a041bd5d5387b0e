"""Start: the program, with a short path for what starts all the time."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the program with the arguments of the process.

    `ragforge hook`, `ragforge mcp` and the terminal start without loading the other commands.
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
    from ragforge.cli.guard import run_process

    if not arguments and sys.stdin.isatty() and sys.stdout.isatty():
        run_process(_open_terminal)
    from ragforge.cli.main import run

    run_process(lambda: run(arguments))


def _open_terminal() -> int:
    from ragforge.cli.arguments import wants_debug
    from ragforge.cli.guard import run_guarded
    from ragforge.cli.loading import GlobalOptions, open_terminal

    debug = wants_debug()
    return run_guarded(lambda: open_terminal(GlobalOptions(debug=debug)), debug)
