"""Record: put what is said into the store, before anything else happens to it.

Secrets are taken out on the way: what is stored may be searched, shown, copied and sent.
"""

from __future__ import annotations

from ragforge.domain.conversations import Message
from ragforge.ports.conversations import ConversationStore


async def question(store: ConversationStore, conversation_id: str, text: str) -> Message:
    """Open a turn with the user's message; durable when this returns."""
    [message] = await store.append(conversation_id, [Message(role="user", content=_clean(text))])
    return message


async def answer(
    store: ConversationStore,
    conversation_id: str,
    turn_index: int | None,
    text: str,
    *,
    reasoning: str = "",
    by_model: bool,
) -> Message:
    """Close a turn with its answer; durable when this returns.

    What no model wrote is the system's, not an assistant's, so that a later search
    finds what it points to and not the pointing.
    """
    said = Message(
        role="assistant" if by_model else "system",
        content=_clean(text),
        reasoning=_clean(reasoning) or None,
        turn_index=turn_index,
    )
    [message] = await store.append(conversation_id, [said])
    return message


def _clean(text: str) -> str:
    from ragforge.memory.redact import redact  # its patterns take a while to compile

    return redact(text)
