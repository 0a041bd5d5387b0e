"""Branches: copies of messages for a new conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragforge.domain.conversations import BEFORE_FIRST_TURN, Message, ToolCall
from ragforge.domain.text import new_id


def copy_messages(originals: Sequence[Message]) -> list[Message]:
    """Return copies with new ids. Turns are renumbered: deleted ones may have left gaps."""
    turns = [message.turn_index for message in originals if message.role == "user"]
    renumbered = {old: new for new, old in enumerate(turns)}
    renumbered[BEFORE_FIRST_TURN] = BEFORE_FIRST_TURN
    return [
        replace(
            message,
            uuid=new_id(),
            process=None,  # nobody is answering the copy
            turn_index=renumbered.get(message.turn_index),
            tool_calls=tuple(copy_call(call) for call in message.tool_calls),
        )
        for message in originals
    ]


def copy_call(call: ToolCall) -> ToolCall:
    """Return a copy of a call and its result with new ids."""
    result = None if call.result is None else replace(call.result, uuid=new_id())
    return replace(call, uuid=new_id(), result=result)
