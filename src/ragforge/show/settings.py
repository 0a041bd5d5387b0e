"""Settings with their values and origins, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.config.dotted_keys import get_value, list_keys
from ragforge.records import dataclass
from ragforge.show.console import print_note, print_table
from ragforge.show.trust import format_state

if TYPE_CHECKING:
    from ragforge.app.features.configure import SettingChange
    from ragforge.config import Loaded, Settings


@dataclass(frozen=True, slots=True)
class SettingLine:
    """A setting as it is shown: its key, its value, where that comes from, and its meaning."""

    key: str
    value: str
    origin: str
    meaning: str


def settings_to_json(loaded: Loaded) -> dict[str, object]:
    settings = {
        key: {"value": _find_value(loaded.settings, key), "origin": origin}
        for key, origin in loaded.origins.items()
    }
    file = loaded.project
    return {
        "settings": settings,
        "files": [str(path) for path in loaded.files],
        "project_file": None if file is None else {"path": str(file.path), "state": file.state},
    }


def list_settings(loaded: Loaded) -> list[SettingLine]:
    """Return every setting, in the order of the configuration page."""
    return [
        SettingLine(
            key, format_value(loaded.settings, key), origin, list_keys()[key].description or ""
        )
        for key, origin in loaded.origins.items()
    ]


def show_settings(loaded: Loaded) -> None:
    """Show every setting, its value and its origin."""
    show_setting_lines(list_settings(loaded))
    if loaded.project is not None:
        print_note(format_state(loaded.project))


def show_setting_lines(lines: Sequence[SettingLine]) -> None:
    """Show settings as a table."""
    print_table(["Key", "Value", "Origin"], [[one.key, one.value, one.origin] for one in lines])


def format_change(change: SettingChange, value: str) -> list[str]:
    """Return what a setting is now, and what overrides the change if something does."""
    lines = [f"{change.key} is {value}, from {change.origin}."]
    if change.origin not in ("default", str(change.file)):
        lines.append(f"{change.file} was changed, but {change.origin} overrides it.")
    return lines


def format_value(settings: Settings, key: str) -> str:
    """Return the value of a setting in a few words; of servers only the names."""
    value = _find_value(settings, key)
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, bool):
        return str(value).lower()
    return "-" if value in (None, "") else str(value)


def _find_value(settings: Settings, key: str) -> object:
    """Return a value; of servers only the names, since their settings may be secret."""
    value = get_value(settings, key)
    return list(value) if isinstance(value, dict) else value
