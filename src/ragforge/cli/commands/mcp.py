"""`ragforge mcp`: serve memory and code to other agents."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = """\b
Examples:
  ragforge mcp
  ragforge mcp ~/work/shop

Agents start it themselves: name it as the command of an MCP server in their configuration.
It reads requests from standard input and ends with it. See docs/mcp.md.
"""


def register(app: typer.Typer) -> None:
    app.command("mcp", epilog=EXAMPLES)(mcp)


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
