"""The application: everything built from settings, and what doors do with it.

Names are loaded when they are first used: a command that asks no model loads none of that.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragforge.app.application import App
    from ragforge.app.code import Code, open_code
    from ragforge.app.models import open_chat, open_embedder
    from ragforge.app.opening import open_app
    from ragforge.app.stores import (
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
    "Code": "code",
    "back_up_store": "stores",
    "copy_store": "stores",
    "inspect_store": "stores",
    "open_app": "opening",
    "open_chat": "models",
    "open_code": "code",
    "open_embedder": "models",
    "open_store": "stores",
    "query_store": "stores",
    "repair_store": "stores",
    "vacuum_store": "stores",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ragforge.app' has no attribute {name!r}")
    return getattr(import_module(f"ragforge.app.{_HOMES[name]}"), name)
