"""The application: everything wired together from settings."""

from ragforge.app.application import App, open_app
from ragforge.app.models import open_chat, open_embedder
from ragforge.app.stores import copy_store, open_store

__all__ = ["App", "copy_store", "open_app", "open_chat", "open_embedder", "open_store"]
