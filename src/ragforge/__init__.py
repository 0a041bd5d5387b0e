"""RagForge: a coding agent and a library that remember.

    from ragforge import ConversationAgent, ask

    print((await ask("Where is the login?", cwd="~/shop")).content)

    async with await ConversationAgent.open(cwd="~/shop") as agent:
        conversation = await agent.create_conversation(title="Refactor auth")
        answer = await conversation.send_message("Where is the login?")
        await conversation.search_history("login")

All that a program needs is here, in `ragforge.events` (to listen while a turn runs), in
`ragforge.permissions` (to allow what changes something) and in `ragforge.errors`. Names are loaded
when they are first used, so that importing RagForge costs nothing.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragforge.app import App, open_app
    from ragforge.app.library.conversation import Conversation
    from ragforge.app.library.conversation_agent import ConversationAgent, ask
    from ragforge.config.layers import load_settings
    from ragforge.config.settings import Settings
    from ragforge.context.build import ContextOptions
    from ragforge.domain.conversations import Message, ToolCall, ToolResult
    from ragforge.domain.notes import Note
    from ragforge.domain.summaries import Summary
    from ragforge.domain.turns import Answer, Turn, UserQuery
    from ragforge.errors import RagForgeError
    from ragforge.llm.executor import StructuredLLMExecutor, ToolUse
    from ragforge.llm.task import InputField, Packing, Task
    from ragforge.tools.function_tool import own_tool

__version__ = "0.9.0"
__all__ = [
    "Answer",
    "App",
    "ContextOptions",
    "Conversation",
    "ConversationAgent",
    "InputField",
    "Message",
    "Note",
    "Packing",
    "RagForgeError",
    "Settings",
    "StructuredLLMExecutor",
    "Summary",
    "Task",
    "ToolCall",
    "ToolResult",
    "ToolUse",
    "Turn",
    "UserQuery",
    "__version__",
    "ask",
    "load_settings",
    "open_app",
    "own_tool",
]

logging.getLogger(__name__).addHandler(logging.NullHandler())  # a program chooses its own

_HOMES = {
    "Answer": "ragforge.domain.turns",
    "App": "ragforge.app",
    "ContextOptions": "ragforge.context.build",
    "Conversation": "ragforge.app.library.conversation",
    "ConversationAgent": "ragforge.app.library.conversation_agent",
    "InputField": "ragforge.llm.task",
    "Message": "ragforge.domain.conversations",
    "Note": "ragforge.domain.notes",
    "Packing": "ragforge.llm.task",
    "RagForgeError": "ragforge.errors",
    "Settings": "ragforge.config.settings",
    "StructuredLLMExecutor": "ragforge.llm.executor",
    "Summary": "ragforge.domain.summaries",
    "Task": "ragforge.llm.task",
    "ToolCall": "ragforge.domain.conversations",
    "ToolResult": "ragforge.domain.conversations",
    "ToolUse": "ragforge.llm.executor",
    "Turn": "ragforge.domain.turns",
    "UserQuery": "ragforge.domain.turns",
    "ask": "ragforge.app.library.conversation_agent",
    "load_settings": "ragforge.config.layers",
    "open_app": "ragforge.app",
    "own_tool": "ragforge.tools.function_tool",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ragforge' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
