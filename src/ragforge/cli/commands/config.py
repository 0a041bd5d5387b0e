"""`ragforge config`: what is set and where, and changing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.help_texts import CommandGroup
from ragforge.cli.loading import get_current_directory
from ragforge.cli.state import JsonOption, load
from ragforge.config.dotted_keys import get_value
from ragforge.show.console import print_note, print_table
from ragforge.show.trust import format_state

if TYPE_CHECKING:
    from ragforge.app.features.configure import SettingChange
    from ragforge.config import Loaded

KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="Such as llm.model.")]


def register(app: typer.Typer) -> None:
    group = CommandGroup(help="See and change the settings.", epilog="config", no_args_is_help=True)
    group.command("show", epilog="config")(show)
    group.command("set", epilog="config/set")(set_)
    group.command("unset", epilog="config/set")(unset)
    app.add_typer(group, name="config")


def show(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show every setting, its value and where it came from."""
    from ragforge.show.console import print_json

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
    from ragforge.app.features.configure import set_setting

    _show_change(set_setting(get_current_directory(), key, value))


def unset(key: KeyArgument) -> None:
    """Remove a setting from your own configuration file."""
    from ragforge.app.features.configure import set_setting

    _show_change(set_setting(get_current_directory(), key, None))


def _show_change(change: SettingChange) -> None:
    from ragforge.show.console import print_note

    print_note(f"{change.key} is {change.value!r}, from {change.origin}.")
    if change.origin not in ("default", str(change.file)):
        print_note(f"{change.file} was changed, but {change.origin} is stronger.")


def settings_to_json(loaded: Loaded) -> dict[str, object]:
    settings = {
        key: {"value": _find_value(loaded, key), "origin": origin}
        for key, origin in loaded.origins.items()
    }
    file = loaded.project
    return {
        "settings": settings,
        "files": [str(path) for path in loaded.files],
        "project_file": None if file is None else {"path": str(file.path), "state": file.state},
    }


def show_settings(loaded: Loaded) -> None:
    """Show every setting, its value and where it came from."""
    values = {key: _find_value(loaded, key) for key in loaded.origins}
    rows = [[key, _format_value(value), loaded.origins[key]] for key, value in values.items()]
    print_table(["Key", "Value", "Where it came from"], rows)
    if loaded.project is not None:
        print_note(format_state(loaded.project))


def _find_value(loaded: Loaded, key: str) -> object:
    """Return a value; of servers the names alone, since what they are given may be secret."""
    value = get_value(loaded.settings, key)
    return list(value) if isinstance(value, dict) else value


def _format_value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)
