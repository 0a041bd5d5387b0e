"""Settings and the layers they come from. Names are loaded when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragforge.config.layers import Loaded, load_settings
    from ragforge.config.settings import Settings
    from ragforge.config.trust import ProjectFile

__all__ = ["Loaded", "ProjectFile", "Settings", "load_settings"]

_HOMES = {
    "Loaded": "layers",
    "ProjectFile": "trust",
    "Settings": "settings",
    "load_settings": "layers",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ragforge.config' has no attribute {name!r}")
    return getattr(import_module(f"ragforge.config.{_HOMES[name]}"), name)
