"""The application: everything built from settings, and what doors do with it.

`App` and `open_app` are loaded when they are first used: a command that asks no model loads none
of that.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragforge.app.application import App
    from ragforge.app.opening import open_app

__all__ = ["App", "open_app"]


def __getattr__(name: str) -> Any:
    homes = {"App": "application", "open_app": "opening"}
    if name not in homes:
        raise AttributeError(f"module 'ragforge.app' has no attribute {name!r}")
    return getattr(import_module(f"ragforge.app.{homes[name]}"), name)
