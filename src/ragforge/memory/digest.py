"""Digest: a conversation as one text of a given size."""

from __future__ import annotations

from ragforge.domain.conversations import Conversation
from ragforge.domain.text import indent_lines, shorten, to_one_line
from ragforge.memory.history import History
from ragforge.memory.recalled import recall_turn
from ragforge.memory.summaries.material import MIN_TURN_CHARS, format_turns
from ragforge.ports.store import Store


async def format_conversation(store: Store, conversation: Conversation, max_chars: int) -> str:
    """Return a conversation's title, tags, summary and newest turns.

    The turns share the room that the rest leaves. The summary covers the oldest turns of a long
    conversation, for which there is no room. Raises ConversationNotFound.
    """
    heads = {
        "Title": to_one_line(conversation.title or ""),
        "Tags": to_one_line(", ".join(conversation.tags)),
        "Summary": indent_lines(conversation.summary or ""),
    }
    lines = "\n".join(f"{name}: {text}" for name, text in heads.items() if text)
    head = shorten(lines, max_chars // 2)
    room = max_chars - len(head)
    most = max(1, room // (MIN_TURN_CHARS + 2))
    turns = await History(store).get_recent_turns(conversation.uuid, limit=most)
    said = [kept for turn in turns if (kept := recall_turn(turn)) is not None]
    text = format_turns(said, room - 2 * len(said))
    return shorten("\n\n".join(part for part in (head, text) if part), max_chars)
