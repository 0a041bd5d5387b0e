"""Record: put what is said into the store, before anything else happens to it."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.domain.conversations import Message, ToolCall
from ragforge.ports.conversations import ConversationStore


async def question(store: ConversationStore, conversation_id: str, text: str) -> Message:
    """Open a turn with the user's message; durable when this returns."""
    [message] = await store.append(conversation_id, [Message(role="user", content=text)])
    return message


async def answer(
    store: ConversationStore,
    conversation_id: str,
    turn_index: int | None,
    text: str,
    reasoning: str | None = None,
    tool_calls: Sequence[ToolCall] = (),
) -> Message:
    """Add the assistant's message to a turn; durable when this returns."""
    reply = Message(
        role="assistant",
        content=text,
        reasoning=reasoning,
        tool_calls=tuple(tool_calls),
        turn_index=turn_index,
    )
    [message] = await store.append(conversation_id, [reply])
    return message
