"""Entries: how each thing reads in a context, and what it is called in the receipt."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.context.excerpts import Excerpt
from ragforge.context.replay import TurnLimits, replay_turn, transcript
from ragforge.domain.hits import MemoryHit, NoteHit, SummaryHit, TurnHit
from ragforge.domain.summaries import Summary
from ragforge.domain.text import shorten
from ragforge.domain.turns import Turn
from ragforge.memory.code.age import Aged
from ragforge.memory.summaries.summarise import summary_as_text

CALLS_CHARS = 400
"""How much of a past turn's calls is shown: what they led to stands in its answer."""
NEIGHBOUR_CHARS = 300
"""How much of the turn before a memory is shown, so that it can be understood."""
AGED_SHOWN = 3


def query_text(turn: Turn) -> str:
    """Return a question of the user as one of the latest."""
    return f"- {' '.join(turn.user.content.split())}"


def piece_text(piece: Excerpt) -> str:
    """Return some code under its place."""
    return f"[{piece.place}] {piece.name} (relevance {piece.score:.2f})\n{piece.text}"


def turn_text(turn: Turn, chars: int) -> str:
    """Return a turn with its tool calls, in at most so many characters."""
    limits = TurnLimits(chars, min(chars // 4, CALLS_CHARS))
    return shorten(transcript(replay_turn(turn, limits)), chars)


def hit_text(hit: MemoryHit, aged: Sequence[Aged], chars: int, before: Turn | None = None) -> str:
    """Return a memory that was found, with what has become of the code it is about."""
    relevance = f"relevance {hit.score:.2f}{aged_note(aged)}"
    when = f"{hit.timestamp:%Y-%m-%d}"
    if isinstance(hit, SummaryHit):
        return f"[{summary_source(hit.summary)}, {when}, {relevance}]\n{_body(hit.summary, chars)}"
    place = f"session {hit.conversation_id[:8]}, turn {hit.turn.user.turn_index}"
    lead = "" if before is None else f"(before: {_in_short(before)})\n"
    return f"[{place}, {when}, {relevance}]\n{lead}{turn_text(hit.turn, chars)}"


def note_text(hit: NoteHit) -> str:
    """Return a note of the project."""
    return f"- {hit.note.text} ({hit.timestamp:%Y-%m-%d})"


def summary_entry(summary: Summary, chars: int) -> str:
    """Return a summary of the conversation itself."""
    return f"[{summary_source(summary)}]\n{_body(summary, chars)}"


def turn_source(conversation_id: str, turn: Turn) -> str:
    return f"turn {turn.user.turn_index} of session {conversation_id[:8]}"


def hit_source(hit: MemoryHit) -> str:
    if isinstance(hit, TurnHit):
        return turn_source(hit.conversation_id, hit.turn)
    return summary_source(hit.summary)


def summary_source(summary: Summary) -> str:
    turns = f"turns {summary.start_turn_index}-{summary.end_turn_index}"
    return f"L{summary.level} of {turns}, session {summary.conversation_id[:8]}"


def aged_note(aged: Sequence[Aged]) -> str:
    """Return what has changed since, or gone; empty if nothing has."""
    if not aged:
        return ""
    more = f" and {len(aged) - AGED_SHOWN} more" if len(aged) > AGED_SHOWN else ""
    return f"; {', '.join(str(one) for one in aged[:AGED_SHOWN])}{more}"


def _body(summary: Summary, chars: int) -> str:
    return shorten(summary_as_text(summary).partition("\n")[2], chars)


def _in_short(turn: Turn) -> str:
    said = " ".join(f"{turn.user.content} → {turn.answer}".split())
    return shorten(said, NEIGHBOUR_CHARS)
