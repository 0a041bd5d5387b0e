"""`ragforge mcp`: serve memory and code to other agents."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("mcp", epilog="mcp")(mcp)


def mcp(
    context: typer.Context,
    project: Annotated[
        str | None,
        typer.Argument(
            metavar="PROJECT",
            help="The project; if not given, the agent's folder, or the repository around here.",
        ),
    ] = None,
) -> None:
    """Serve memory and code to other agents over the Model Context Protocol."""
    from ragforge.cli.loading import GlobalOptions
    from ragforge.cli.serve_mcp import serve_mcp

    options: GlobalOptions = context.obj
    raise typer.Exit(serve_mcp(project, options.store, debug=options.debug))
