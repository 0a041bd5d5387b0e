"""`ragforge hook`: what other agents run at the start of a session and at every turn."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("hook", epilog="hook")(hook)


def hook(
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="The event, if the input does not name it.")
    ] = "",
    agent: Annotated[str, typer.Option(metavar="NAME", help="Who calls.")] = "claude-code",
) -> None:
    """Answer another agent: its call is on standard input."""
    from ragforge.cli.hook import run_hook

    run_hook([*([event] if event else []), "--agent", agent])
