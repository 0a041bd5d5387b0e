"""`ragforge sessions`: everything about past conversations."""

from __future__ import annotations

import typer

from ragforge.cli.commands.sessions import branch, edit, find, list, show, transfer
from ragforge.cli.help_texts import CommandGroup


def register(app: typer.Typer) -> None:
    group = CommandGroup(
        help="See, find, branch, move and delete sessions.",
        epilog="sessions",
        no_args_is_help=True,
    )
    for part in (list, show, find, branch, transfer, edit):
        part.register(group)
    app.add_typer(group, name="sessions")
