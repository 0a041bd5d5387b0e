"""Layout: a request to a model, with what stays the same from question to question first.

System prompt and the project's instructions; this conversation's long-term memory; its newest
turns as the messages they were; last the question with what was found for it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from ragforge.context.build import EnrichedContext
from ragforge.context.replay import message_chars
from ragforge.domain.chat import ChatMessage, ChatRequest, ModelSays, UserSays
from ragforge.domain.receipts import Layout, Part
from ragforge.domain.text import plain


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A request and the account of its layout."""

    request: ChatRequest
    layout: Layout


def lay_out(context: EnrichedContext, system: str, question: str) -> LaidOut:
    """Return the request of a question, of which the first messages may be cached."""
    instructions = context.instructions
    whole_system = "\n\n".join(filter(None, (system, instructions.text)))
    memory = [UserSays(context.memory_text)] if context.memory_text else []
    turns = [message for turn in context.replayed for message in turn]
    asked = context.question_text
    text = f"{asked}\n\n# Question\n\n{question}" if asked else question
    stable: list[ChatMessage] = [*memory, *turns]
    request = ChatRequest((*stable, UserSays(text)), system=whole_system, stable=len(stable))
    parts = [
        Part("system prompt", len(system)),
        Part("project instructions", len(instructions.text)),
        Part("long-term memory", len(context.memory_text)),
        Part(_name_turns(context), sum(map(message_chars, turns))),
        Part("found for this question", len(asked)),
        Part("question", len(question)),
    ]
    layout = Layout(
        parts=tuple(part for part in parts if part.chars),
        first_turn=context.window.first,
        whole_from=context.window.whole_from,
        same_chars=count_same(context.layout_before, whole_system, request.messages),
        marks=_marks(whole_system, request.messages),
    )
    return LaidOut(request, layout)


def count_same(before: Layout | None, system: str, messages: Sequence[ChatMessage]) -> int:
    """Return how many characters at the beginning are those of the request before."""
    if before is None:
        return 0
    sizes = (len(system), *map(message_chars, messages))
    same = 0
    for size, mark, known in zip(sizes, _marks(system, messages), before.marks, strict=False):
        if mark != known:
            break
        same += size
    return same


def _marks(system: str, messages: Sequence[ChatMessage]) -> tuple[int, ...]:
    """Return a number for the system prompt and for each message; equal ones have equal numbers."""
    return tuple(
        zlib.crc32(text.encode("utf-8", "replace")) for text in (system, *map(_as_text, messages))
    )


def _as_text(message: ChatMessage) -> str:
    calls = message.tool_requests if isinstance(message, ModelSays) else ()
    return "\n".join(
        (type(message).__name__, message.text, *(f"{c.name} {plain(c.arguments)}" for c in calls))
    )


def _name_turns(context: EnrichedContext) -> str:
    count = len(context.recent_turns)
    return "1 newest turn" if count == 1 else f"{count} newest turns"
