"""Replay: what a turn did before it broke off, said again to the model that goes on with it."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.domain.chat import ChatMessage, ModelSays, ToolRequest, ToolSays
from ragforge.domain.conversations import Message, ToolCall
from ragforge.domain.turns import Turn
from ragforge.llm.calls import result_text

GO_ON = "This is as far as it went before it broke off. Go on from here; repeat nothing."


def is_answered(turn: Turn) -> bool:
    """Tell whether a model has answered; what broke off ends with a call or with the reason.

    What the user did afterwards, such as taking an edit back, is told by the system with a call.
    """
    said = [one for one in turn.replies if one.role != "system" or not one.tool_calls]
    last = said[-1] if said else turn.user
    return last.role == "assistant" and not last.tool_calls


def replayed(messages: Sequence[Message]) -> list[ChatMessage]:
    """Return an assistant's messages with their calls and results, as a model knows them."""
    said: list[ChatMessage] = []
    for message in messages:
        if message.role != "assistant":
            continue
        wishes = [
            ToolRequest(call.uuid, call.tool_name, call.arguments) for call in message.tool_calls
        ]
        said.append(ModelSays(message.content, tool_requests=tuple(wishes)))
        said += [_result(call) for call in message.tool_calls]
    return said


def _result(call: ToolCall) -> ToolSays:
    if call.result is None:
        return ToolSays(call.uuid, call.tool_name, "Interrupted; it may have been done.", False)
    gave = call.result
    text = result_text(gave.success, gave.result, gave.error)
    return ToolSays(call.uuid, call.tool_name, text, gave.success)
