"""Memories: select the past turns and summaries that are shown.

They share the room that is left. Some places are reserved for summaries, which cover many turns in
few words; turns use what summaries leave, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ragforge.context import entries
from ragforge.context.budget import Budget, Fit, select_fitting
from ragforge.context.selection import FENCE_CHARS, ContextSelection, Material, RecalledMemory
from ragforge.domain.hits import MemoryHit, SummaryHit
from ragforge.domain.receipts import ReceiptItem, Section
from ragforge.domain.summaries import Level

PLACES: dict[Level, int] = {2: 3, 1: 5}
"""Places reserved for the summaries of each level."""
WHOLE = 5
"""How many of the best turns get the full length of an entry."""
LESS = 2
"""The other turns get this fraction of it."""
MIN_ENTRY = 300
SUMMARIES_SHARE = 1 / 3
"""The share of the room that summaries may take before turns are added."""


def add_memories(chosen: ContextSelection, found: Material, budget: Budget) -> None:
    """Add the memories, the best first within each level, or turns by time if the message asks."""
    turns, summaries = _drop_repeated(chosen, found)
    first, others = _assign_places(summaries)
    room = max(0, chosen.room - (FENCE_CHARS if summaries else 0))  # two sections
    text = _make_formatter(turns, chosen, found, budget)
    kept = select_fitting(first, text, int(room * SUMMARIES_SHARE))
    said = select_fitting(turns, text, room - kept.chars, may_cut=True)
    if found.in_order:
        said.shown.sort(key=lambda pair: pair[0].hit.timestamp)
    rest = select_fitting([*kept.left_out, *others], text, room - kept.chars - said.chars)
    _add_section(chosen, "past_turns", said, found.reader)
    shown = [*kept.shown, *rest.shown]
    order = {id(memory): at for at, memory in enumerate(summaries)}
    shown.sort(key=lambda pair: order[id(pair[0])])
    _add_section(chosen, "summaries", Fit(shown, [], rest.left_out), found.reader)
    chosen.history = [memory.hit for memory, _ in (*said.shown, *shown)]


def _drop_repeated(
    chosen: ContextSelection, found: Material
) -> tuple[list[RecalledMemory], list[RecalledMemory]]:
    """Return the turns and the summaries that are not shown already, each once."""
    raw = {turn.uuid for turn in chosen.recent}
    above = {summary.uuid for summary in (*chosen.long_term, *chosen.short_term)}
    seen: set[tuple[str, str]] = set()
    turns: list[RecalledMemory] = []
    summaries: list[RecalledMemory] = []
    for memory in found.memories:
        hit = memory.hit
        if isinstance(hit, SummaryHit):
            if hit.summary.uuid in above:
                why = "shown as this conversation's memory"
                chosen.leave_out("summaries", entries.name_hit(hit), why)
            elif chosen.shows_raw(hit.summary, found.conversation_id):
                chosen.leave_out("summaries", entries.name_hit(hit), "its turns are shown raw")
            else:
                summaries.append(memory)
        elif hit.turn.uuid in raw:
            chosen.leave_out("past_turns", entries.name_hit(hit), "shown raw")
        elif (said := (hit.turn.user.content.strip(), hit.turn.answer.strip())) in seen:
            chosen.leave_out("past_turns", entries.name_hit(hit), "says the same as another")
        else:
            seen.add(said)
            turns.append(memory)
    return turns, summaries


def _assign_places(
    summaries: Iterable[RecalledMemory],
) -> tuple[list[RecalledMemory], list[RecalledMemory]]:
    """Return the best summaries of each level, for which places are reserved, and the others."""
    left = dict(PLACES)
    first: list[RecalledMemory] = []
    others: list[RecalledMemory] = []
    for memory in summaries:
        level = memory.hit.level
        if level and left[level] > 0:
            left[level] -= 1
            first.append(memory)
        else:
            others.append(memory)
    return first, others


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
