"""`ragforge servers`: the MCP servers whose tools the agent can use."""

from __future__ import annotations

import typer

from ragforge.cli.loading import get_current_directory
from ragforge.cli.state import JsonOption, load


def register(app: typer.Typer) -> None:
    app.command("servers", epilog="servers")(servers)


def servers(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the MCP servers that the agent uses, and what they offer."""
    import asyncio

    from ragforge.app.wiring.mcp_client import list_reports
    from ragforge.show.console import open_console, print_json, print_note
    from ragforge.show.mcp_client import NO_SERVERS, format_servers, server_to_json

    settings = load(context).settings
    reports = asyncio.run(list_reports(settings, get_current_directory()))
    if as_json:
        print_json({"servers": [server_to_json(report) for report in reports]})
    elif not reports:
        print_note(NO_SERVERS)
    else:
        out = open_console()
        for line in format_servers(reports):
            out.print(line, markup=False, highlight=False)
