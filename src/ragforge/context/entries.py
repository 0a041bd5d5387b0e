"""Entries: how each thing reads in a context, and what it is called in the receipt."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.context.pieces import Piece
from ragforge.domain.conversations import ToolCall
from ragforge.domain.hits import MemoryHit, SummaryHit, TurnHit
from ragforge.domain.summaries import Summary
from ragforge.domain.text import plain
from ragforge.domain.turns import Turn
from ragforge.llm.task import shortened
from ragforge.memory.code.age import Aged
from ragforge.memory.levels.material import call_line
from ragforge.memory.levels.summarise import summary_as_text

RESULT_CHARS = 400
"""How much of a tool's result is shown again."""
AGED_SHOWN = 3


def query_text(turn: Turn) -> str:
    """Return a question of the user as one of the latest."""
    return f"- {' '.join(turn.user.content.split())}"


def piece_text(piece: Piece) -> str:
    """Return some code under its place."""
    return f"[{piece.place}] {piece.name} (relevance {piece.score:.2f})\n{piece.text}"


def turn_text(turn: Turn) -> str:
    """Return a turn with its tool calls."""
    lines = [f"[turn {turn.user.turn_index}]", f"User: {turn.user.content}"]
    lines += (f"Tool: {call_line(call)} -> {_result(call)}" for call in turn.tool_calls)
    if turn.answer:
        lines.append(f"Assistant: {turn.answer}")
    return "\n".join(lines)


def hit_text(hit: MemoryHit, aged: Sequence[Aged]) -> str:
    """Return a memory that was found, with what has become of the code it is about."""
    relevance = f"relevance {hit.score:.2f}{aged_note(aged)}"
    when = f"{hit.timestamp:%Y-%m-%d}"
    if isinstance(hit, TurnHit):
        said = turn_text(hit.turn).partition("\n")[2]
        place = f"session {hit.conversation_id[:8]}, turn {hit.turn.user.turn_index}"
        return f"[{place}, {when}, {relevance}]\n{said}"
    return f"[{summary_source(hit.summary)}, {when}, {relevance}]\n{_told(hit.summary)}"


def summary_entry(summary: Summary) -> str:
    """Return a short-term summary that no long-term one covers yet."""
    return f"[{summary_source(summary)}]\n{_told(summary)}"


def turn_source(conversation_id: str, turn: Turn) -> str:
    return f"turn {turn.user.turn_index} of session {conversation_id[:8]}"


def hit_source(hit: MemoryHit) -> str:
    if isinstance(hit, SummaryHit):
        return summary_source(hit.summary)
    return turn_source(hit.conversation_id, hit.turn)


def summary_source(summary: Summary) -> str:
    turns = f"turns {summary.start_turn_index}-{summary.end_turn_index}"
    return f"L{summary.level} of {turns}, session {summary.conversation_id[:8]}"


def aged_note(aged: Sequence[Aged]) -> str:
    """Return what has changed since, or gone; empty if nothing has."""
    if not aged:
        return ""
    more = f" and {len(aged) - AGED_SHOWN} more" if len(aged) > AGED_SHOWN else ""
    return f"; {', '.join(str(one) for one in aged[:AGED_SHOWN])}{more}"


def _told(summary: Summary) -> str:
    return summary_as_text(summary).partition("\n")[2]


def _result(call: ToolCall) -> str:
    if call.result is None:
        return "(no result)"
    if call.result.error:
        return f"failed: {shortened(call.result.error, RESULT_CHARS)}"
    return shortened(plain(call.result.result), RESULT_CHARS)
