"""Select: what of all that was found goes into a context, each thing once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragforge.context import entries
from ragforge.context.budget import BETWEEN, Budget, Fit, fitting, newest_fitting
from ragforge.context.excerpts import Excerpt
from ragforge.context.material import Material
from ragforge.context.memories import add_memories
from ragforge.context.replay import TurnLimits, replay_turn, transcript
from ragforge.context.selection import Selection
from ragforge.context.window import (
    Window,
    WindowLimits,
    choose_window,
    index_of,
    replay_window,
    shown_turns,
)
from ragforge.domain.chat import ChatMessage
from ragforge.domain.hits import NoteHit
from ragforge.domain.receipts import Item, Section
from ragforge.domain.summaries import Summary
from ragforge.domain.text import shorten
from ragforge.domain.turns import Turn

OVER_SHARE = "beyond the share of its section"
RAW = "its turns are shown raw"


def within(found: Material, budget: Budget) -> Selection:
    """Return what fits: what is shown raw is not shown again as a hit or in a summary.

    The conversation's own past comes first: the newest turn is always there.
    """
    chosen = Selection(max(0, budget.total - len(found.instructions.text)))
    _add_recent(chosen, found, budget)
    _add_own_summaries(chosen, found, budget)
    _add_pieces(chosen, "code", found.code, budget.code)
    for_documents = budget.code - (len(chosen.sections.get("code", "")) // 2)
    _add_pieces(chosen, "documents", found.documents, for_documents)
    _add_queries(chosen, found, budget.queries)
    _add_notes(chosen, found, budget)
    add_memories(chosen, found, budget)
    return chosen


def best_pieces(pieces: Sequence[Excerpt], chars: int) -> list[Excerpt]:
    """Return the pieces that fit into a number of characters, the last perhaps cut."""
    fit = fitting(pieces, entries.piece_text, chars, may_cut=True)
    return [
        replace(piece, text=text.partition("\n")[2]) if piece in fit.cut else piece
        for piece, text in fit.shown
    ]


def _add_recent(chosen: Selection, found: Material, budget: Budget) -> None:
    """Add the newest turns of the conversation, from the start of a summarised stretch on."""
    turns, before = found.own.turns, found.own.layout
    if budget.recent_turns is not None:
        turns = turns[len(turns) - budget.recent_turns :] if budget.recent_turns else ()
    if not turns:
        return
    limits = WindowLimits.of(budget.recent, chosen.room)
    last = None if before is None else Window(before.first_turn, before.whole_from)
    replays = found.own.replays
    window = choose_window(turns, found.own.starts, last, limits, replays)
    shown = shown_turns(turns, window)
    replayed = replay_window(turns, window, limits, replays)
    texts = [f"[turn {index_of(t)}]\n{transcript(m)}" for t, m in zip(shown, replayed, strict=True)]
    fit = _fit_newest(shown, texts, chosen.room)
    if len(fit.shown) < len(shown):  # a very small budget
        replayed = replayed[len(shown) - len(fit.shown) :]
    if fit.cut:
        replayed = [replay_turn(shown[-1], TurnLimits(len(fit.shown[0][1]), 0))]
    chosen.replayed = replayed
    chosen.recent = [turn for turn, _ in fit.shown]
    if chosen.recent:
        chosen.window = replace(window, first=index_of(chosen.recent[0]))
    cut = _cut_turns(chosen.recent, replayed)

    def item(turn: Turn, chars: int) -> Item:
        source = entries.turn_source(found.conversation_id, turn)
        note = "long parts shortened" if turn.uuid in cut else ""
        return Item("recent_turns", source, "one of the newest turns", chars, None, note)

    chosen.add("recent_turns", fit, item)


def _fit_newest(turns: Sequence[Turn], texts: Sequence[str], room: int) -> Fit[Turn]:
    """Return the newest turns that fit; if not even the newest does, the ends of it."""
    text_of = dict(zip((turn.uuid for turn in turns), texts, strict=True))
    fit = newest_fitting(turns, lambda turn: text_of[turn.uuid], room)
    if not fit.shown and room > BETWEEN:
        newest = turns[-1]
        fit.shown.append((newest, shorten(text_of[newest.uuid], room - BETWEEN)))
        fit.cut.append(newest)
        fit.left_out.remove(newest)
    return fit


def _cut_turns(turns: Sequence[Turn], replayed: Sequence[Sequence[ChatMessage]]) -> set[str]:
    """Return which turns have lost a part of what was said or of what tools gave."""
    return {
        turn.uuid
        for turn, messages in zip(turns, replayed, strict=True)
        if sum(len(message.text) for message in messages) < turn.char_count
    }


def _add_own_summaries(chosen: Selection, found: Material, budget: Budget) -> None:
    """Add the conversation's summaries, the newest long-term one before all others."""
    level_2 = _not_shown(chosen, found, found.own.level_2, "level2_summaries")
    level_1 = _not_shown(chosen, found, found.own.level_1, "level1_summaries")
    if budget.level_1 is not None:
        level_1 = level_1[len(level_1) - budget.level_1 :] if budget.level_1 else []
    wanted = [*level_2[-1:], *reversed(level_1), *reversed(level_2[:-1])]
    chars = min(budget.own_summaries, chosen.room)

    def text(summary: Summary) -> str:
        return entries.summary_entry(summary, budget.entry)

    kept = {summary.uuid for summary, _ in fitting(wanted, text, chars).shown}
    chosen.long_term = [summary for summary in level_2 if summary.uuid in kept]
    chosen.short_term = [summary for summary in level_1 if summary.uuid in kept]
    sections: tuple[tuple[Section, list[Summary], str], ...] = (
        ("level2_summaries", chosen.long_term, "long-term memory of this conversation"),
        ("level1_summaries", chosen.short_term, "earlier in this conversation"),
    )
    for section, summaries, why in sections:
        fit = newest_fitting(summaries, text, chosen.room)

        def item(summary: Summary, chars: int, section: Section = section, why: str = why) -> Item:
            return Item(section, entries.summary_source(summary), why, chars)

        chosen.add(section, fit, item)
        summaries[:] = [summary for summary, _ in fit.shown]


def _not_shown(
    chosen: Selection, found: Material, summaries: Sequence[Summary], section: Section
) -> list[Summary]:
    """Return the summaries of which at least one turn is not shown word for word."""
    wanted = []
    for summary in summaries:
        if chosen.shows_raw(summary, found.conversation_id):
            chosen.leave_out(section, entries.summary_source(summary), RAW)
        else:
            wanted.append(summary)
    return wanted


def _add_pieces(chosen: Selection, section: Section, pieces: Sequence[Excerpt], chars: int) -> None:
    fit = fitting(pieces, entries.piece_text, min(chars, chosen.room), may_cut=True)
    shown = [piece for piece, _ in fit.shown]
    if section == "code":
        chosen.code = shown
    else:
        chosen.documents = shown
    cut = [piece.place for piece in fit.cut]

    def item(piece: Excerpt, chars: int) -> Item:
        why = f"found by {', '.join(piece.found_by)}"
        note = "cut" if piece.place in cut else ""
        return Item(section, f"{piece.place} {piece.name}", why, chars, piece.score, note)

    chosen.add(section, fit, item, OVER_SHARE)


def _add_notes(chosen: Selection, found: Material, budget: Budget) -> None:
    """Add what somebody wanted remembered of the project."""
    fit = fitting(found.notes, entries.note_text, min(2 * budget.entry, chosen.room))
    chosen.notes = [hit for hit, _ in fit.shown]

    def item(hit: NoteHit, chars: int) -> Item:
        source = f"note {hit.note.uuid[:8]}"
        return Item("notes", source, f"found by {', '.join(hit.found_by)}", chars, hit.score)

    chosen.add("notes", fit, item)


def _add_queries(chosen: Selection, found: Material, chars: int) -> None:
    """Add the user's latest questions; those of turns that are shown word for word stand there."""
    raw = {turn.uuid for turn in chosen.recent}
    others = [turn for turn in found.own.turns if turn.uuid not in raw]
    latest = newest_fitting(found.own.turns, entries.query_text, chars)
    chosen.queries = [turn for turn, _ in latest.shown]
    fit = newest_fitting(others, entries.query_text, min(chars, chosen.room))

    def item(turn: Turn, chars: int) -> Item:
        source = entries.turn_source(found.conversation_id, turn)
        return Item("last_user_queries", source, "one of your latest questions", chars)

    chosen.add("last_user_queries", fit, item, OVER_SHARE)
