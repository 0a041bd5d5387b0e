"""Build: the context of a message, within the budget, and the request with it.

What stays the same from question to question comes first in a request, for the provider's cache:
system prompt and instructions, long-term memory, the newest turns, and last the question.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

from ragforge.context import select
from ragforge.context.excerpts import Excerpt
from ragforge.context.gather import Gatherer
from ragforge.context.instructions import Instructions
from ragforge.context.replay import Window, count_chars
from ragforge.context.selection import Budget, ContextSelection, Material
from ragforge.domain.chat import (
    AssistantMessage,
    ChatMessage,
    ChatRequest,
    UserMessage,
    WindowShares,
)
from ragforge.domain.conversations import Conversation
from ragforge.domain.hits import MemoryHit, NoteHit
from ragforge.domain.receipts import Layout, Receipt, RequestPart, SearchReport
from ragforge.domain.summaries import Summary
from ragforge.domain.text import to_text
from ragforge.domain.turns import Turn
from ragforge.errors import InputError
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class EnrichedContext:
    """What is known that is relevant to a message.

    `text` is all of it, for programs that call a model themselves. The agent's request has the
    same in three parts, so that a provider can cache it: `memory_text`, the newest turns as
    messages (`replayed`), and `question_text`.
    """

    last_user_queries: tuple[str, ...]
    code: tuple[Excerpt, ...]
    documents: tuple[Excerpt, ...]
    recent_turns: tuple[Turn, ...]
    notes: tuple[NoteHit, ...]  # of the project
    history: tuple[MemoryHit, ...]
    level2_summaries: tuple[Summary, ...]
    level1_summaries_not_summarized: tuple[Summary, ...]
    found: tuple[MemoryHit, ...]  # all relevant memories, also those that are shown as turns
    found_code: tuple[Excerpt, ...]  # also what is too long to be shown; the best first
    found_documents: tuple[Excerpt, ...]
    instructions: Instructions  # of the project
    receipt: Receipt
    text: str
    memory_text: str
    question_text: str
    replayed: tuple[Sequence[ChatMessage], ...]  # one for each of the recent turns
    window: Window
    layout_before: Layout | None  # of the previous request


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """Limits of one context that differ from the settings; None leaves a setting as it is."""

    max_chars: int | None = None
    recent_max_chars: int | None = None
    recent_limit: int | None = None  # turns
    last_user_queries_max_chars: int | None = None
    code_search_max_chars: int | None = None
    code_search_initial_limit: int | None = None
    semantic_max_results: int | None = None
    semantic_min_score: float | None = None
    level1_summaries_limit: int | None = None
    cwd: str | None = None  # the directory below which code is searched

    def apply(self, budget: Budget) -> Budget:
        """Return the budget with these changes. Raises InputError for one below zero."""
        changes = {
            "total": self.max_chars,
            "recent": self.recent_max_chars,
            "recent_turns": self.recent_limit,
            "queries": self.last_user_queries_max_chars,
            "code": self.code_search_max_chars,
            "code_hits": self.code_search_initial_limit,
            "memories": self.semantic_max_results,
            "min_score": self.semantic_min_score,
            "level_1": self.level1_summaries_limit,
        }
        given = {name: value for name, value in changes.items() if value is not None}
        if any(value < 0 for value in given.values()):
            raise InputError("A limit of a context is negative. Use 0 or more.")
        return replace(budget, **given)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class ContextBuilder:
    """Builds contexts for the conversations of one project."""

    gatherer: Gatherer
    budget: Budget

    def fit(self, shares: WindowShares) -> ContextBuilder:
        """Return the builder of contexts that a model takes, if the budget is larger."""
        return replace(self, budget=self.budget.shrink(shares))

    async def build_enriched_context(
        self,
        conversation: Conversation,
        message: str,
        turn_id: str | None = None,
        options: ContextOptions | None = None,
    ) -> EnrichedContext:
        """Return the context of a message, without the turn that the message opens.

        The receipt lists the searches that failed or were late. Raises InputError for invalid
        options.
        """
        options = options or ContextOptions()
        budget = options.apply(self.budget)
        without = [turn_id] if turn_id else []
        if options.cwd is not None:
            conversation = replace(conversation, cwd=options.cwd)
        await self.gatherer.searches.prepare()
        material, searches = await self.gatherer.gather(conversation, message, budget, without)
        return _assemble(material, select.select_within(material, budget), searches)


def _assemble(
    material: Material, selection: ContextSelection, searches: Sequence[SearchReport]
) -> EnrichedContext:
    receipt = Receipt(
        max_chars=selection.max_chars,
        chars=len(selection.text),
        items=tuple(selection.items),
        left_out=tuple(selection.left_out),
        searches=tuple(searches),
        unknown=tuple(material.unknown),
    )
    return EnrichedContext(
        last_user_queries=tuple(turn.user.content for turn in selection.queries),
        code=tuple(selection.code),
        documents=tuple(selection.documents),
        recent_turns=tuple(selection.recent),
        notes=tuple(selection.notes),
        history=tuple(selection.history),
        level2_summaries=tuple(selection.long_term),
        level1_summaries_not_summarized=tuple(selection.short_term),
        found=tuple(memory.hit for memory in material.memories),
        found_code=tuple(material.code),
        found_documents=tuple(material.documents),
        instructions=material.instructions,
        receipt=receipt,
        text=selection.text,
        memory_text=selection.memory_text,
        question_text=selection.question_text,
        replayed=tuple(selection.replayed),
        window=selection.window,
        layout_before=material.own.layout,
    )


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
