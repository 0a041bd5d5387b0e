"""`ragforge sessions show`: everything about one session."""

from __future__ import annotations

from typing import Annotated

import typer

from ragforge.cli.commands.sessions.arguments import SessionArgument
from ragforge.cli.state import JsonOption, use_app

TURNS = 20


def register(group: typer.Typer) -> None:
    group.command("show", epilog="sessions/show")(show)


def show(
    context: typer.Context,
    session: SessionArgument,
    *,
    turns: Annotated[
        int, typer.Option("--turns", min=0, help="How many of the latest turns to show.")
    ] = TURNS,
    full: Annotated[bool, typer.Option("--full", help="Show long texts uncut.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a session: its turns with their tools and states, and its summaries."""
    from ragforge.show.console import print_json
    from ragforge.show.session_detail import detail_to_json, show_detail

    found = use_app(context, lambda app: app.sessions.load_detail(session))
    if as_json:
        print_json(detail_to_json(found))
    else:
        show_detail(found, turns, full)
