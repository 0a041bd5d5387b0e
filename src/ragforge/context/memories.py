"""Memories: select the past turns and summaries that are shown, in one ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragforge.context import entries
from ragforge.context.budget import Budget, Fit, select_fitting
from ragforge.context.selection import FENCE_CHARS, ContextSelection, Material, RecalledMemory
from ragforge.domain.hits import MemoryHit, SummaryHit
from ragforge.domain.receipts import ReceiptItem, Section

WHOLE = 5
"""How many of the best turns get the full length of an entry."""
LESS = 2
"""The other turns get this fraction of it."""
MIN_ENTRY = 300


def add_memories(chosen: ContextSelection, found: Material, budget: Budget) -> None:
    """Add the memories, the best first, or the turns by time if the message asks."""
    memories = _drop_repeated(chosen, found)
    turns = [memory for memory in memories if memory.hit.type == "turn"]
    two_sections = FENCE_CHARS if len(turns) < len(memories) else 0
    text = _make_formatter(turns, chosen, found, budget)
    fit = select_fitting(memories, text, max(0, chosen.room - two_sections), may_cut=True)
    sections: tuple[tuple[Section, str], ...] = (("past_turns", "turn"), ("summaries", "summary"))
    for section, kind in sections:
        shown = [pair for pair in fit.shown if pair[0].hit.type == kind]
        left_out = [memory for memory in fit.left_out if memory.hit.type == kind]
        if kind == "turn" and found.in_order:
            shown.sort(key=lambda pair: pair[0].hit.timestamp)
        some = Fit(shown, fit.cut, left_out)
        _add_section(chosen, section, some, found.reader)
        chosen.history += [memory.hit for memory, _ in some.shown]


def _drop_repeated(chosen: ContextSelection, found: Material) -> list[RecalledMemory]:
    """Return the memories that are not shown already, each once."""
    raw = {turn.uuid for turn in chosen.recent}
    above = {summary.uuid for summary in (*chosen.long_term, *chosen.short_term)}
    seen: set[tuple[str, str]] = set()
    kept: list[RecalledMemory] = []
    for memory in found.memories:
        hit = memory.hit
        if isinstance(hit, SummaryHit):
            if hit.summary.uuid in above:
                why = "shown as this conversation's memory"
                chosen.leave_out("summaries", entries.name_hit(hit), why)
            elif chosen.shows_raw(hit.summary, found.conversation_id):
                chosen.leave_out("summaries", entries.name_hit(hit), "its turns are shown raw")
            else:
                kept.append(memory)
        elif hit.turn.uuid in raw:
            chosen.leave_out("past_turns", entries.name_hit(hit), "shown raw")
        elif (said := (hit.turn.user.content.strip(), hit.turn.answer.strip())) in seen:
            chosen.leave_out("past_turns", entries.name_hit(hit), "says the same as another")
        else:
            seen.add(said)
            kept.append(memory)
    return kept


def _make_formatter(
    turns: Sequence[RecalledMemory], chosen: ContextSelection, found: Material, budget: Budget
) -> Callable[[RecalledMemory], str]:
    shown = {memory.hit.turn.uuid for memory in turns if memory.hit.type == "turn"}
    shown |= {turn.uuid for turn in chosen.recent}

    whole = {id(memory) for memory in turns[:WHOLE]}

    def format_memory(memory: RecalledMemory) -> str:
        less = memory.hit.type == "turn" and id(memory) not in whole
        chars = max(budget.entry // LESS, MIN_ENTRY) if less else budget.entry
        is_new = memory.before is not None and memory.before.uuid not in shown
        before = memory.before if is_new else None
        return entries.format_hit(
            memory.hit, memory.stale, chars, before, found.reader, found.words
        )

    return format_memory


def _add_section(
    chosen: ContextSelection, section: Section, fit: Fit[RecalledMemory], reader: str | None
) -> None:
    cut = {id(memory) for memory in fit.cut}

    def make_item(memory: RecalledMemory, chars: int) -> ReceiptItem:
        hit: MemoryHit = memory.hit
        notes = ["cut"] if id(memory) in cut else []
        notes += filter(None, [entries.format_changes(memory.stale).removeprefix("; ")])
        why = f"found by {', '.join(hit.found_by)}"
        source = entries.name_hit(hit, reader)
        return ReceiptItem(section, source, why, chars, hit.relevance, "; ".join(notes))

    chosen.add(section, fit, make_item)
