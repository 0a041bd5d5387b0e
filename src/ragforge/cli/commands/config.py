"""`ragforge config` and `servers`: show and change settings, list the configured MCP servers."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from ragforge.app.features.configure import set_setting
from ragforge.cli.help_texts import CommandGroup
from ragforge.cli.loading import get_current_directory
from ragforge.cli.options import JsonOption
from ragforge.cli.state import load
from ragforge.show.console import open_console, print_json, print_note, print_result
from ragforge.show.mcp_client import NO_SERVERS, format_servers, server_to_json
from ragforge.show.settings import format_change, settings_to_json, show_settings

KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="Such as llm.model.")]


def register(app: typer.Typer) -> None:
    group = CommandGroup(
        help="Show and change the settings.", epilog="config", no_args_is_help=True
    )
    group.command("show", epilog="config")(show)
    group.command("set", epilog="config/set")(set_)
    group.command("unset", epilog="config/set")(unset)
    app.add_typer(group, name="config")
    app.command("servers", epilog="servers")(servers)


def show(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show every setting, its value and its origin."""
    loaded = load(context, quiet=True)
    print_result(as_json, settings_to_json(loaded), lambda: show_settings(loaded))


def set_(
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="As in a configuration file.")],
) -> None:
    """Change a setting in your own configuration file."""
    _change(key, value)


def unset(key: KeyArgument) -> None:
    """Remove a setting from your own configuration file."""
    _change(key, None)


def _change(key: str, value: str | None) -> None:
    change = set_setting(get_current_directory(), key, value)
    for line in format_change(change, repr(change.value)):
        print_note(line)


def servers(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the MCP servers that the agent uses, and what they offer."""
    from ragforge.app.wiring.mcp_client import list_reports

    reports = asyncio.run(list_reports(load(context).settings, get_current_directory()))
    if as_json:
        print_json({"servers": [server_to_json(report) for report in reports]})
    elif not reports:
        print_note(NO_SERVERS)
    else:
        out = open_console()
        for line in format_servers(reports):
            out.print(line, markup=False, highlight=False)
