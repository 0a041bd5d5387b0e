"""Start: the program, with a short way in for agents, which start `ragforge mcp` every time."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the program with the arguments of the process."""
    if "mcp" in sys.argv[1:4]:
        from ragforge.cli.serve_mcp import run_plain

        code = run_plain(sys.argv[1:])
        if code is not None:
            sys.exit(code)
    from ragforge.cli.main import main as run_any

    run_any()
