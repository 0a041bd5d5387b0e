"""User folders: where the data and the settings of a user lie on this system."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["find_config_folder", "find_data_folder"]

NAME = "ragforge"


def find_data_folder() -> Path:
    """Return the folder of what RagForge keeps for the user."""
    if folder := _find_on_linux("XDG_DATA_HOME", ".local/share"):
        return folder
    import platformdirs

    return Path(platformdirs.user_data_dir(NAME, appauthor=False))


def find_config_folder() -> Path:
    """Return the folder of the user's own settings."""
    if folder := _find_on_linux("XDG_CONFIG_HOME", ".config"):
        return folder
    import platformdirs

    return Path(platformdirs.user_config_dir(NAME, appauthor=False))


def _find_on_linux(variable: str, place: str) -> Path | None:
    """Return a folder as `platformdirs` does, which takes 8 ms to load; None if it has to say."""
    home = os.environ.get("HOME", "")
    if sys.platform != "linux" or "ANDROID_ROOT" in os.environ or not os.path.isabs(home):
        return None
    chosen = os.environ.get(variable, "")
    return Path(chosen if os.path.isabs(chosen) else f"{home}/{place}", NAME)
