"""Select: choose what goes into a context, each thing once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ragforge.context import entries
from ragforge.context.excerpts import Excerpt
from ragforge.context.replay import (
    ReplayLimits,
    Window,
    WindowLimits,
    choose_window,
    format_transcript,
    get_index,
    list_shown,
    replay_turn,
    replay_window,
)
from ragforge.context.selection import (
    BETWEEN,
    FENCE_CHARS,
    Budget,
    ContextSelection,
    Fit,
    Material,
    RecalledMemory,
    select_fitting,
    select_newest,
)
from ragforge.domain.chat import ChatMessage
from ragforge.domain.hits import MemoryHit, NoteHit, SummaryHit, TurnHit
from ragforge.domain.receipts import ReceiptItem, Section
from ragforge.domain.summaries import Summary
from ragforge.domain.text import shorten
from ragforge.domain.turns import Turn
from ragforge.memory.context_tags import make_mark

CODE_SHARE, DOCUMENTS_SHARE, NOTES_SHARE = 0.35, 0.25, 0.15
"""The most that code, documents and notes get of the room that is left for memories."""
SMALL_CHARS, SMALL_SHARE = 10_000, 0.5
"""Of a small context they get half of that: code can be searched again, memories often cannot. Code
and documents that are hardly likelier meant than what was said get less, by the odds."""
MIN_ODDS = 1e-3
HEAD_CHARS = 300
"""What the head of a memory and the turn before it may take."""
OVER_SHARE = "beyond the share of its section"
RAW = "its turns are shown raw"
RULE_CHARS = 2_000
"""The limit for all rules together."""
WHOLE = 5
"""How many of the best turns get the full length of an entry."""
LESS = 2
"""The other turns get this fraction of it."""
MIN_ENTRY = 300


def select_within(found: Material, budget: Budget) -> ContextSelection:
    """Return what fits. A turn that is shown as itself is not repeated as a hit or in a summary.

    The conversation's own past comes first; the newest turn is always included.
    """
    room = max(0, budget.total - len(found.instructions.text))
    chosen = ContextSelection(room, make_mark(found.conversation_id))
    _add_recent(chosen, found, budget)
    _add_own_summaries(chosen, found, budget)
    for_code, for_documents = budget.code, budget.code
    if found.memories or found.notes:  # a small budget must leave room for them
        unused = chosen.room - _estimate_memories(found, budget)
        code, documents = (
            max(_measure_share(chosen.room, share, _compare_odds(some, found)), unused)
            for share, some in ((CODE_SHARE, found.code), (DOCUMENTS_SHARE, found.documents))
        )
        for_documents = min(for_documents, documents)
        if not budget.keeps_code:
            for_code = min(for_code, code)
    _add_excerpts(chosen, "code", found.code, for_code)
    for_documents -= len(chosen.sections.get("code", "")) // 2
    _add_excerpts(chosen, "documents", found.documents, for_documents)
    _add_queries(chosen, found, budget.queries)
    _add_notes(chosen, found, budget)
    add_memories(chosen, found, budget)
    return chosen


def _measure_share(room: int, share: float, odds: float = math.inf) -> int:
    """Return the most that a section gets, in a small context less by its odds."""
    return int(room * share * (1.0 if room > SMALL_CHARS else SMALL_SHARE * min(odds / 2, 1.0)))


def _estimate_memories(found: Material, budget: Budget) -> int:
    """Return how many characters all memories and notes would take, roughly."""
    turns = [memory.hit.turn for memory in found.memories if memory.hit.type == "turn"]
    others = len(found.memories) - len(turns) + len(found.notes) + len(found.standing)
    longest = HEAD_CHARS + budget.entry
    return sum(min(HEAD_CHARS + turn.char_count, longest) for turn in turns) + others * longest


def _compare_odds(excerpts: Sequence[Excerpt], found: Material) -> float:
    """Return the odds that excerpts are meant, as a multiple of those of what was said before."""
    best = max((excerpt.score for excerpt in excerpts), default=0.0)
    said = max((memory.hit.relevance for memory in found.memories), default=0.0)
    return _compute_odds(best) / max(_compute_odds(said), MIN_ODDS)


def _compute_odds(likely: float) -> float:
    return likely / max(1.0 - likely, MIN_ODDS)


def select_best(excerpts: Sequence[Excerpt], chars: int) -> list[Excerpt]:
    """Return the excerpts that fit into a number of characters; one of them may be cut."""
    fit = select_fitting(excerpts, entries.format_excerpt, chars, may_cut=True)
    return [
        replace(excerpt, text=text.partition("\n")[2]) if excerpt in fit.cut else excerpt
        for excerpt, text in fit.shown
    ]


def _add_recent(chosen: ContextSelection, found: Material, budget: Budget) -> None:
    """Add the newest turns of the conversation, beginning where a summarised stretch begins."""
    turns, before = found.own.turns, found.own.layout
    if budget.recent_turns is not None:
        turns = turns[len(turns) - budget.recent_turns :] if budget.recent_turns else ()
    if not turns:
        return
    limits = WindowLimits.of(budget.recent, chosen.room)
    last = None if before is None else Window(before.first_turn, before.whole_from)
    replays = found.own.replays
    window = choose_window(turns, found.own.starts, last, limits, replays)
    shown = list_shown(turns, window)
    replayed = replay_window(turns, window, limits, replays)
    texts = [
        f"[turn {get_index(t)}]\n{format_transcript(m)}"
        for t, m in zip(shown, replayed, strict=True)
    ]
    fit = _fit_newest(shown, texts, chosen.room)
    if len(fit.shown) < len(shown):  # a very small budget
        replayed = replayed[len(shown) - len(fit.shown) :]
    if fit.cut:
        replayed = [replay_turn(shown[-1], ReplayLimits(len(fit.shown[0][1]), 0))]
    chosen.replayed = replayed
    chosen.recent = [turn for turn, _ in fit.shown]
    if chosen.recent:
        chosen.window = replace(window, first=get_index(chosen.recent[0]))
    cut = _cut_turns(chosen.recent, replayed)

    def make_item(turn: Turn, chars: int) -> ReceiptItem:
        source = entries.name_turn(found.conversation_id, turn)
        note = "long parts shortened" if turn.uuid in cut else ""
        return ReceiptItem("recent_turns", source, "one of the newest turns", chars, None, note)

    chosen.add("recent_turns", fit, make_item)


def _fit_newest(turns: Sequence[Turn], texts: Sequence[str], room: int) -> Fit[Turn]:
    """Return the newest turns that fit; if not even the newest does, it is cut."""
    text_of = dict(zip((turn.uuid for turn in turns), texts, strict=True))
    fit = select_newest(turns, lambda turn: text_of[turn.uuid], room)
    if not fit.shown and room > BETWEEN:
        newest = turns[-1]
        fit.shown.append((newest, shorten(text_of[newest.uuid], room - BETWEEN)))
        fit.cut.append(newest)
        fit.left_out.remove(newest)
    return fit


def _cut_turns(turns: Sequence[Turn], replayed: Sequence[Sequence[ChatMessage]]) -> set[str]:
    """Return the ids of the turns whose text or tool results were cut."""
    return {
        turn.uuid
        for turn, messages in zip(turns, replayed, strict=True)
        if sum(len(message.text) for message in messages) < turn.char_count
    }


def _add_own_summaries(chosen: ContextSelection, found: Material, budget: Budget) -> None:
    """Add the conversation's summaries, the newest long-term one first."""
    level_2 = _drop_shown(chosen, found, found.own.level_2, "level2_summaries")
    level_1 = _drop_shown(chosen, found, found.own.level_1, "level1_summaries")
    if budget.level_1 is not None:
        level_1 = level_1[len(level_1) - budget.level_1 :] if budget.level_1 else []
    wanted = [*level_2[-1:], *reversed(level_1), *reversed(level_2[:-1])]
    chars = min(budget.own_summaries, chosen.room)

    def format_entry(summary: Summary) -> str:
        return entries.format_summary(summary, budget.entry)

    kept = {summary.uuid for summary, _ in select_fitting(wanted, format_entry, chars).shown}
    chosen.long_term = [summary for summary in level_2 if summary.uuid in kept]
    chosen.short_term = [summary for summary in level_1 if summary.uuid in kept]
    sections: tuple[tuple[Section, list[Summary], str], ...] = (
        ("level2_summaries", chosen.long_term, "long-term memory of this conversation"),
        ("level1_summaries", chosen.short_term, "earlier in this conversation"),
    )
    for section, summaries, why in sections:
        fit = select_newest(summaries, format_entry, chosen.room)

        def make_item(
            summary: Summary, chars: int, section: Section = section, why: str = why
        ) -> ReceiptItem:
            return ReceiptItem(section, entries.name_summary(summary), why, chars)

        chosen.add(section, fit, make_item)
        summaries[:] = [summary for summary, _ in fit.shown]


def _drop_shown(
    chosen: ContextSelection, found: Material, summaries: Sequence[Summary], section: Section
) -> list[Summary]:
    """Return the summaries of which at least one turn is not shown itself."""
    wanted = []
    for summary in summaries:
        if chosen.shows_raw(summary, found.conversation_id):
            chosen.leave_out(section, entries.name_summary(summary), RAW)
        else:
            wanted.append(summary)
    return wanted


def _add_excerpts(
    chosen: ContextSelection, section: Section, excerpts: Sequence[Excerpt], chars: int
) -> None:
    fit = select_fitting(excerpts, entries.format_excerpt, min(chars, chosen.room), may_cut=True)
    shown = [excerpt for excerpt, _ in fit.shown]
    if section == "code":
        chosen.code = shown
    else:
        chosen.documents = shown
    cut = [excerpt.place for excerpt in fit.cut]

    def make_item(excerpt: Excerpt, chars: int) -> ReceiptItem:
        why = f"found by {', '.join(excerpt.found_by)}"
        note = "cut" if excerpt.place in cut else ""
        return ReceiptItem(
            section, f"{excerpt.place} {excerpt.name}", why, chars, excerpt.score, note
        )

    chosen.add(section, fit, make_item, OVER_SHARE)


def _add_notes(chosen: ContextSelection, found: Material, budget: Budget) -> None:
    """Add the project's rules, within a separate budget, its notes and standing instructions."""
    raw = {turn.uuid for turn in chosen.recent}
    standing = [hit for hit in found.standing if hit.turn.uuid not in raw]
    text = partial(entries.format_note, reader=found.reader)
    rules: list[NoteHit | TurnHit] = [hit for hit in found.notes if hit.note.is_rule]
    others = [hit for hit in found.notes if not hit.note.is_rule]
    hits: list[NoteHit | TurnHit] = [*others, *standing]
    fit = select_fitting(rules, text, min(RULE_CHARS, chosen.room))
    room = _measure_share(chosen.room - fit.chars, NOTES_SHARE)
    rest = select_fitting(hits, text, min(2 * budget.entry, room))
    fit.shown.extend(rest.shown)
    fit.left_out.extend(rest.left_out)
    chosen.notes = [hit for hit, _ in fit.shown if hit.type == "note"]

    def make_item(hit: NoteHit | TurnHit, chars: int) -> ReceiptItem:
        source = entries.name_hit(hit) if hit.type == "turn" else f"note {hit.note.uuid[:8]}"
        return ReceiptItem("notes", source, f"found by {', '.join(hit.found_by)}", chars, hit.score)

    chosen.add("notes", fit, make_item)


def _add_queries(chosen: ContextSelection, found: Material, chars: int) -> None:
    """Add the user's latest questions, except those of turns that are shown themselves."""
    raw = {turn.uuid for turn in chosen.recent}
    others = [turn for turn in found.own.turns if turn.uuid not in raw]
    latest = select_newest(found.own.turns, entries.format_query, chars)
    chosen.queries = [turn for turn, _ in latest.shown]
    fit = select_newest(others, entries.format_query, min(chars, chosen.room))

    def make_item(turn: Turn, chars: int) -> ReceiptItem:
        source = entries.name_turn(found.conversation_id, turn)
        return ReceiptItem("last_user_queries", source, "one of your latest questions", chars)

    chosen.add("last_user_queries", fit, make_item, OVER_SHARE)


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
