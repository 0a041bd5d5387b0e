"""History: what was said and done in a session, as updates for an editor that opens it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from acp import (
    start_tool_call,
    update_agent_message_text,
    update_agent_thought_text,
    update_user_message_text,
)
from acp.helpers import SessionUpdate

from ragforge.acp.texts import clean
from ragforge.acp.tool_calls import format_result, format_title, get_kind, list_places
from ragforge.acp.updates import PLAN, make_plan
from ragforge.domain.conversations import Message, ToolCall
from ragforge.domain.turns import Turn


def replay(turns: Sequence[Turn], root: Path) -> Iterator[SessionUpdate]:
    """Yield all of some turns, in their order."""
    for turn in turns:
        yield update_user_message_text(clean(turn.user.content))
        for message in turn.replies:
            yield from _replay_message(message, root)


def _replay_message(message: Message, root: Path) -> Iterator[SessionUpdate]:
    if message.reasoning:
        yield update_agent_thought_text(clean(message.reasoning))
    if message.content.strip():
        yield update_agent_message_text(clean(f"{message.content}\n\n"))
    for call in message.tool_calls:
        yield _replay_call(call, root)


def _replay_call(call: ToolCall, root: Path) -> SessionUpdate:
    result = call.result
    if call.tool_name == PLAN and result is not None:
        plan = make_plan(result.result)
        if plan is not None:
            return plan
    content = [] if result is None else format_result(root, result.result, result.error)
    return start_tool_call(
        call.uuid,
        format_title(call.tool_name, call.arguments),
        kind=get_kind(call.tool_name),
        status="completed" if call.success and result is not None else "failed",
        content=content,
        locations=list_places(root, call.arguments),
    )
