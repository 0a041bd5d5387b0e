"""Settings and where each comes from, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.config.dotted_keys import get_value
from ragforge.show.console import print_note, print_table
from ragforge.show.trust import format_state

if TYPE_CHECKING:
    from ragforge.config import Loaded


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
