"""The application: everything built from settings, and what doors do with it.

Names are loaded when they are first used: a command that asks no model loads none of that.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragforge.app.application import App
    from ragforge.app.features.code import Code, open_code
    from ragforge.app.opening import open_app
    from ragforge.app.wiring.models import open_chat, open_embedder
    from ragforge.app.wiring.stores import (
        back_up_store,
        copy_store,
        inspect_store,
        open_store,
        query_store,
        repair_store,
        vacuum_store,
    )

__all__ = [
    "App",
    "Code",
    "back_up_store",
    "copy_store",
    "inspect_store",
    "open_app",
    "open_chat",
    "open_code",
    "open_embedder",
    "open_store",
    "query_store",
    "repair_store",
    "vacuum_store",
]

_HOMES = {
    "App": "application",
    "Code": "features.code",
    "back_up_store": "wiring.stores",
    "copy_store": "wiring.stores",
    "inspect_store": "wiring.stores",
    "open_app": "opening",
    "open_chat": "wiring.models",
    "open_code": "features.code",
    "open_embedder": "wiring.models",
    "open_store": "wiring.stores",
    "query_store": "wiring.stores",
    "repair_store": "wiring.stores",
    "vacuum_store": "wiring.stores",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ragforge.app' has no attribute {name!r}")
    return getattr(import_module(f"ragforge.app.{_HOMES[name]}"), name)
