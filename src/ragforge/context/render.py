"""Render: a context as the text that a model gets to see."""

from __future__ import annotations

from ragforge.context.gather import Context
from ragforge.domain.turns import Turn
from ragforge.memory.injected import fenced


def render(context: Context) -> str:
    """Return the context, each part fenced and marked; empty if there is nothing to show."""
    parts = []
    if context.code:
        hits = [
            f"[{hit.scope.file}:{hit.scope.start_line}-{hit.scope.end_line}] "
            f"{hit.scope.qualified_name} (relevance {hit.score:.2f})\n{hit.scope.source}"
            for hit in context.code
        ]
        parts.append(fenced("code", "\n\n".join(hits)))
    shown = {turn.uuid for turn in context.recent}
    found = [hit for hit in context.found if hit.turn.uuid not in shown]
    if found:
        passages = [
            f"[session {hit.conversation_id[:8]}, turn {hit.turn.user.turn_index}, "
            f"relevance {hit.score:.2f}]\n{_said(hit.turn)}"
            for hit in found
        ]
        parts.append(fenced("past-turns", "\n\n".join(passages)))
    if context.recent:
        turns = [f"[turn {turn.user.turn_index}]\n{_said(turn)}" for turn in context.recent]
        parts.append(fenced("recent-conversation", "\n\n".join(turns)))
    return "\n\n".join(parts)


def _said(turn: Turn) -> str:
    answer = turn.answer
    return f"User: {turn.user.content}" + (f"\nAssistant: {answer}" if answer else "")
