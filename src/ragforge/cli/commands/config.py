"""`ragforge config`: show and change settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.app.features.configure import set_setting
from ragforge.cli.help_texts import CommandGroup
from ragforge.cli.loading import get_current_directory
from ragforge.cli.options import JsonOption
from ragforge.cli.state import load
from ragforge.config.dotted_keys import get_value
from ragforge.show.console import print_note, print_result, print_table
from ragforge.show.trust import format_state

if TYPE_CHECKING:
    from ragforge.config import Loaded


def complete_key(incomplete: str) -> list[str]:
    """Return the settings that a shell may complete."""
    from ragforge.cli.completion import list_settings  # only while the user is typing

    return list_settings(incomplete)


KeyArgument = Annotated[
    str,
    typer.Argument(metavar="KEY", help="Such as llm.model.", autocompletion=complete_key),
]


def register(app: typer.Typer) -> None:
    group = CommandGroup(
        help="Show and change the settings.", epilog="config", no_args_is_help=True
    )
    group.command("show", epilog="config")(show)
    group.command("set", epilog="config/set")(set_)
    group.command("unset", epilog="config/set")(unset)
    app.add_typer(group, name="config")


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
    print_note(f"{change.key} is {change.value!r}, from {change.origin}.")
    if change.origin not in ("default", str(change.file)):
        print_note(f"{change.file} was changed, but {change.origin} overrides it.")


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
    """Show every setting, its value and its origin."""
    values = {key: _find_value(loaded, key) for key in loaded.origins}
    rows = [[key, _format_value(value), loaded.origins[key]] for key, value in values.items()]
    print_table(["Key", "Value", "Origin"], rows)
    if loaded.project is not None:
        print_note(format_state(loaded.project))


def _find_value(loaded: Loaded, key: str) -> object:
    """Return a value; of servers only the names, since their settings may be secret."""
    value = get_value(loaded.settings, key)
    return list(value) if isinstance(value, dict) else value


def _format_value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)
