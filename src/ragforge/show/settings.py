"""Settings and where each comes from, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.config.settings import get_value
from ragforge.show.console import print_note, print_table
from ragforge.show.trust import format_state

if TYPE_CHECKING:
    from ragforge.config import Loaded


def settings_to_json(loaded: Loaded) -> dict[str, object]:
    settings = {
        key: {"value": get_value(loaded.settings, key), "origin": origin}
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
    values = {key: get_value(loaded.settings, key) for key in loaded.origins}
    rows = [
        [key, "-" if value is None else str(value), loaded.origins[key]]
        for key, value in values.items()
    ]
    print_table(["Key", "Value", "Where it came from"], rows)
    if loaded.project is not None:
        print_note(format_state(loaded.project))
