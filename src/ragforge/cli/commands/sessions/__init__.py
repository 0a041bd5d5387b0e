"""`ragforge sessions`: everything about past conversations."""

from __future__ import annotations

import typer

from ragforge.cli.commands.sessions import branch, edit, find, list, show, transfer

EXAMPLES = """\b
Examples:
  ragforge sessions list
  ragforge sessions show 9719cf4e
  ragforge sessions export 9719cf4e -o leases.json
  ragforge sessions about src/auth.py

A session is named by its id, or by the start of it.
"""


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="See, find, branch, move and delete sessions.",
        epilog=EXAMPLES,
        no_args_is_help=True,
    )
    for part in (list, show, find, branch, transfer, edit):
        part.register(group)
    app.add_typer(group, name="sessions")
