"""`ragforge config`: what is set and where, and changing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.loading import get_current_directory
from ragforge.cli.state import JsonOption, load

if TYPE_CHECKING:
    from ragforge.app.configure import SettingChange

EXAMPLES = """\b
Examples:
  ragforge config show
  ragforge config show --json
  RAGFORGE_JOBS__LEASE_SECONDS=30 ragforge config show
"""
SET_EXAMPLES = """\b
Examples:
  ragforge config set llm.model ollama:qwen3
  ragforge config set hook.budget 6000
  ragforge config unset llm.model

They change your own configuration file; everything else in it stays as it is, comments too.
"""
KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="Such as llm.model.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="See and change the settings.", epilog=EXAMPLES, no_args_is_help=True)
    group.command("show", epilog=EXAMPLES)(show)
    group.command("set", epilog=SET_EXAMPLES)(set_)
    group.command("unset", epilog=SET_EXAMPLES)(unset)
    app.add_typer(group, name="config")


def show(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show every setting, its value and where it came from."""
    from ragforge.show.console import print_json
    from ragforge.show.settings import settings_to_json, show_settings

    loaded = load(context, quiet=True)
    if as_json:
        print_json(settings_to_json(loaded))
    else:
        show_settings(loaded)


def set_(
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="As a file would have it.")],
) -> None:
    """Set a setting in your own configuration file."""
    from ragforge.app.configure import set_setting

    _show_change(set_setting(get_current_directory(), key, value))


def unset(key: KeyArgument) -> None:
    """Remove a setting from your own configuration file."""
    from ragforge.app.configure import set_setting

    _show_change(set_setting(get_current_directory(), key, None))


def _show_change(change: SettingChange) -> None:
    from ragforge.show.console import print_note

    print_note(f"{change.key} is {change.value!r}, from {change.origin}.")
    if change.origin not in ("default", str(change.file)):
        print_note(f"{change.file} was changed, but {change.origin} is stronger.")
