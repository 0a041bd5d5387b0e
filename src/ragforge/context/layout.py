"""Layout: a request to a model. What stays the same from question to question comes first.

The order: system prompt and project instructions, the conversation's long-term memory, its newest
turns as messages, and last the question with what was found for it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from ragforge.context.build import EnrichedContext
from ragforge.context.replay import count_chars
from ragforge.domain.chat import AssistantMessage, ChatMessage, ChatRequest, UserMessage
from ragforge.domain.receipts import Layout, RequestPart
from ragforge.domain.text import to_text
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A request and a description of its layout."""

    request: ChatRequest
    layout: Layout


def lay_out(
    context: EnrichedContext, system: str, question: str, mode: str = ""
) -> PreparedRequest:
    """Return the request for a question; a provider can cache its first messages.

    `mode` says what is special in this turn. It stands last: the system prompt stays the same,
    and a request that is shortened keeps it.
    """
    instructions = context.instructions
    whole_system = "\n\n".join(filter(None, (system, instructions.text)))
    memory = [UserMessage(context.memory_text)] if context.memory_text else []
    turns = [message for turn in context.replayed for message in turn]
    notices = context.receipt.notices  # or the model would take them for nothing found
    found = "\n\n".join(filter(None, (context.question_text, notices)))
    lead = f"{found}\n\n# Question\n\n" if found else ""
    stable: list[ChatMessage] = [*memory, *turns]
    asked_text = "\n\n".join(filter(None, (question, mode)))
    asked = UserMessage(lead + asked_text, context_chars=len(lead))
    request = ChatRequest((*stable, asked), system=whole_system, stable=len(stable))
    parts = [
        RequestPart("system prompt", len(system)),
        RequestPart("project instructions", len(instructions.text)),
        RequestPart("long-term memory", len(context.memory_text)),
        RequestPart(_name_turns(context), sum(map(count_chars, turns))),
        RequestPart("found for this question", len(found)),
        RequestPart("question", len(question)),
        RequestPart("mode", len(mode)),
    ]
    marks = _compute_marks(whole_system, request.messages)
    layout = Layout(
        parts=tuple(part for part in parts if part.chars),
        first_turn=context.window.first,
        whole_from=context.window.whole_from,
        same_chars=_count_same(context.layout_before, whole_system, request.messages, marks),
        marks=marks,
    )
    return PreparedRequest(request, layout)


def _count_same(
    before: Layout | None, system: str, messages: Sequence[ChatMessage], marks: Sequence[int]
) -> int:
    """Return how many characters at the beginning equal those of the previous request."""
    if before is None:
        return 0
    sizes = (len(system), *map(count_chars, messages))
    same = 0
    for size, mark, known in zip(sizes, marks, before.marks, strict=False):
        if mark != known:
            break
        same += size
    return same


def _compute_marks(system: str, messages: Sequence[ChatMessage]) -> tuple[int, ...]:
    """Return a checksum of the system prompt and of each message."""
    return tuple(
        zlib.crc32(text.encode("utf-8", "replace"))
        for text in (system, *map(_format_message, messages))
    )


def _format_message(message: ChatMessage) -> str:
    calls = message.tool_requests if isinstance(message, AssistantMessage) else ()
    return "\n".join(
        (type(message).__name__, message.text, *(f"{c.name} {to_text(c.arguments)}" for c in calls))
    )


def _name_turns(context: EnrichedContext) -> str:
    count = len(context.recent_turns)
    return "1 newest turn" if count == 1 else f"{count} newest turns"
