"""RagForge: a coding agent and a library that remember.

    from ragforge import ConversationAgent

    async with await ConversationAgent.open() as agent:
        conversation = await agent.create_conversation(title="Refactor auth")
        await conversation.store_turn("Where is the login?", "In src/auth.py.")
        await conversation.search_history("login")

Names are loaded when they are first used, so that importing RagForge costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragforge.app import App, open_app
    from ragforge.app.agent import ConversationAgent
    from ragforge.app.conversation import Conversation
    from ragforge.config.layers import load_settings
    from ragforge.config.settings import Settings
    from ragforge.errors import RagForgeError

__version__ = "0.1.0"
__all__ = [
    "App",
    "Conversation",
    "ConversationAgent",
    "RagForgeError",
    "Settings",
    "__version__",
    "load_settings",
    "open_app",
]

_HOMES = {
    "App": "ragforge.app",
    "Conversation": "ragforge.app.conversation",
    "ConversationAgent": "ragforge.app.agent",
    "RagForgeError": "ragforge.errors",
    "Settings": "ragforge.config.settings",
    "load_settings": "ragforge.config.layers",
    "open_app": "ragforge.app",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ragforge' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
