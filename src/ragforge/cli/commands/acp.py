"""`ragforge acp`: be the agent of an editor."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    app.command("acp", epilog="acp")(acp)


def acp(context: typer.Context) -> None:
    """Be the agent of an editor, over the Agent Client Protocol."""
    from ragforge.cli.serve_acp import serve_acp

    raise typer.Exit(serve_acp(context.obj))
