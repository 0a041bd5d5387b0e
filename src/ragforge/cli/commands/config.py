"""`ragforge config`: show and change settings."""

from __future__ import annotations

from typing import Annotated

import typer

from ragforge.app.features.configure import set_setting
from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import CommandGroup, JsonOption, argument
from ragforge.show.console import print_note, print_result
from ragforge.show.settings import format_change, settings_to_json, show_settings


def complete_key(incomplete: str) -> list[str]:
    """Return the settings that a shell may complete."""
    from ragforge.cli.completion import list_settings  # only while the user is typing

    return list_settings(incomplete)


KeyArgument = Annotated[
    str, typer.Argument(metavar="KEY", help="Such as llm.model.", autocompletion=complete_key)
]


GROUP = CommandGroup(help="Show and change the settings.", epilog="config", no_args_is_help=True)


@GROUP.command("show", epilog="config")
def show(as_json: JsonOption = False) -> None:
    """Show every setting, its value and its origin."""
    loaded = load(quiet=True)
    print_result(as_json, settings_to_json(loaded), lambda: show_settings(loaded))


@GROUP.command("set", epilog="config/set")
def set_(key: KeyArgument, value: str = argument("VALUE", "As in a configuration file.")) -> None:
    """Change a setting in your own configuration file."""
    _change(key, value)


@GROUP.command("unset", epilog="config/set")
def unset(key: KeyArgument) -> None:
    """Remove a setting from your own configuration file."""
    _change(key, None)


def _change(key: str, value: str | None) -> None:
    change = set_setting(get_current_directory(), key, value)
    for line in format_change(change, repr(change.value)):
        print_note(line)
