"""`ragforge servers`: the MCP servers that the agent uses, and logins to them."""

from __future__ import annotations

import asyncio
import webbrowser
from typing import Annotated

import typer

from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import CommandGroup, JsonOption, flag
from ragforge.show.console import open_console, print_json, print_note
from ragforge.show.mcp_client import NO_SERVERS, format_servers, server_to_json

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of a server.")]


GROUP = CommandGroup(epilog="servers", invoke_without_command=True)


@GROUP.callback()
def servers(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the MCP servers that the agent uses, and what they offer."""
    if context.invoked_subcommand is not None:
        return
    from ragforge.app.wiring.mcp_client import list_reports

    reports = asyncio.run(list_reports(load().settings, get_current_directory()))
    if as_json:
        print_json({"servers": [server_to_json(report) for report in reports]})
    elif not reports:
        print_note(NO_SERVERS)
    else:
        out = open_console()
        for line in format_servers(reports):
            out.print(line, markup=False, highlight=False)


@GROUP.command("login", epilog="servers")
def login(
    name: NameArgument,
    no_browser: bool = flag("--no-browser", "Only print the address of the login page."),
) -> None:
    """Log in to a server on the web, in your browser."""
    from ragforge.app.wiring.mcp_client import log_in

    async def show(address: str) -> None:
        print_note(f"Log in to {name} on this page: {address}")
        if not no_browser:
            await asyncio.to_thread(webbrowser.open, address)

    was_needed = asyncio.run(log_in(load().settings, get_current_directory(), name, show))
    print_note(f"Logged in to {name}." if was_needed else f"{name} does not want a login.")


@GROUP.command("logout", epilog="servers")
def logout(name: NameArgument) -> None:
    """Delete what a login to a server returned."""
    from ragforge.app.wiring.mcp_client import log_out

    was_there = log_out(load().settings, get_current_directory(), name)
    print_note(f"Logged out of {name}." if was_there else f"You are not logged in to {name}.")
