"""Select: what of all that was found goes into a context, each thing once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ragforge.context import entries
from ragforge.context.budget import BETWEEN, Fit, fitting, newest_fitting
from ragforge.context.pieces import Piece
from ragforge.context.receipt import SECTIONS, Item, LeftOut, Section
from ragforge.domain.hits import MemoryHit, SummaryHit
from ragforge.domain.summaries import Summary
from ragforge.domain.turns import Turn
from ragforge.memory.code.age import Aged
from ragforge.memory.injected import FENCES, fenced

Thing = TypeVar("Thing")

NAMES: dict[Section, str] = dict(zip(SECTIONS, FENCES, strict=True))
FENCE_CHARS = max(len(fenced(name, "")) for name in NAMES.values()) + BETWEEN
MOST_RECENT_TURNS = 50


@dataclass(frozen=True, slots=True)
class Budget:
    """How many characters a context may have, and each part of it; fences count."""

    total: int
    queries: int
    recent: int
    code: int
    history: int


class Room:
    """How many of the latest turns are worth reading, the newest first."""

    def __init__(self, budget: Budget) -> None:
        self._queries = budget.queries
        self._recent = budget.recent
        self._turns = MOST_RECENT_TURNS

    def takes(self, turn: Turn) -> bool:
        """Tell whether a turn may still be shown, or its question."""
        may_be_shown = self._queries >= 0 or (self._recent >= 0 and self._turns > 0)
        self._queries -= len(entries.query_text(turn)) + BETWEEN
        self._recent -= len(turn.user.content) + len(turn.answer)  # it may take more
        self._turns -= 1
        return may_be_shown


@dataclass(frozen=True, slots=True)
class Material:
    """All that was found."""

    conversation_id: str
    recent: Sequence[Turn]  # oldest first
    history: Sequence[tuple[MemoryHit, list[Aged]]]  # best first
    short_term: Sequence[Summary]  # oldest first
    code: Sequence[Piece]  # best first


@dataclass(slots=True)
class Selection:
    """What goes in, as text and as things; and the account of it."""

    max_chars: int
    queries: list[Turn] = field(default_factory=list)
    code: list[Piece] = field(default_factory=list)
    recent: list[Turn] = field(default_factory=list)
    history: list[MemoryHit] = field(default_factory=list)
    short_term: list[Summary] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    sections: dict[Section, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "\n\n".join(self.sections[name] for name in SECTIONS if name in self.sections)

    @property
    def room(self) -> int:
        """How many characters are left for a further section."""
        used = sum(len(text) + BETWEEN for text in self.sections.values())
        return max(0, self.max_chars - used - FENCE_CHARS)


def within(found: Material, budget: Budget) -> Selection:
    """Return what fits: what is shown raw is not shown again as a hit or in a summary."""
    chosen = Selection(budget.total)
    _add_queries(chosen, found, budget.queries)
    _add_code(chosen, found, budget.code)
    _add_recent(chosen, found, budget.recent)
    _add_history(chosen, found, budget.history)
    _add_short_term(chosen, found)
    return chosen


def best_pieces(pieces: Sequence[Piece], chars: int) -> list[Piece]:
    """Return the pieces that fit into a number of characters, the last perhaps cut."""
    fit = fitting(pieces, entries.piece_text, chars, may_cut=True)
    return [
        replace(piece, text=text.partition("\n")[2]) if piece in fit.cut else piece
        for piece, text in fit.shown
    ]


def _add_queries(chosen: Selection, found: Material, chars: int) -> None:
    fit = newest_fitting(found.recent, entries.query_text, min(chars, chosen.room))
    chosen.queries = [turn for turn, _ in fit.shown]
    _note(
        chosen,
        "last_user_queries",
        fit,
        lambda turn: Item(
            "last_user_queries",
            entries.turn_source(found.conversation_id, turn),
            "one of your latest questions",
            0,
        ),
    )


def _add_code(chosen: Selection, found: Material, chars: int) -> None:
    fit = fitting(found.code, entries.piece_text, min(chars, chosen.room), may_cut=True)
    chosen.code = [piece for piece, _ in fit.shown]
    cut = [piece.place for piece in fit.cut]

    def item(piece: Piece) -> Item:
        why = f"found by {', '.join(piece.found_by)}"
        note = "cut" if piece.place in cut else ""
        return Item("code", f"{piece.place} {piece.name}", why, 0, piece.score, note)

    _note(chosen, "code", fit, item)


def _add_recent(chosen: Selection, found: Material, chars: int) -> None:
    latest = found.recent[-MOST_RECENT_TURNS:]
    fit = newest_fitting(latest, entries.turn_text, min(chars, chosen.room))
    chosen.recent = [turn for turn, _ in fit.shown]
    _note(
        chosen,
        "recent_turns",
        fit,
        lambda turn: Item(
            "recent_turns",
            entries.turn_source(found.conversation_id, turn),
            "one of the latest turns",
            0,
        ),
    )


def _add_history(chosen: Selection, found: Material, chars: int) -> None:
    raw = {turn.uuid for turn in chosen.recent}
    ages = {id(hit): aged for hit, aged in found.history}
    turns: list[MemoryHit] = []
    summaries: list[MemoryHit] = []
    for hit, _ in found.history:
        if isinstance(hit, SummaryHit):
            if _is_shown(chosen, found, hit.summary):
                _leave_out(chosen, "summaries", entries.hit_source(hit), "its turns are shown raw")
            else:
                summaries.append(hit)
        elif hit.turn.uuid in raw:
            _leave_out(chosen, "past_turns", entries.hit_source(hit), "shown raw")
        else:
            turns.append(hit)

    def text(hit: MemoryHit) -> str:
        return entries.hit_text(hit, ages[id(hit)])

    def item(section: Section) -> Callable[[MemoryHit], Item]:
        return lambda hit: Item(
            section,
            entries.hit_source(hit),
            f"found by {', '.join(hit.found_by)}",
            0,
            hit.score,
            entries.aged_note(ages[id(hit)]).removeprefix("; "),
        )

    fit = fitting(turns, text, min(chars, chosen.room), may_cut=True)
    _note(chosen, "past_turns", fit, item("past_turns"))
    rest = fitting(summaries, text, min(chars - fit.chars, chosen.room))
    _note(chosen, "summaries", rest, item("summaries"))
    chosen.history = [hit for hit, _ in (*fit.shown, *rest.shown)]


def _add_short_term(chosen: Selection, found: Material) -> None:
    told = {hit.summary.uuid for hit in chosen.history if isinstance(hit, SummaryHit)}
    wanted = []
    for summary in found.short_term:
        if summary.uuid in told:
            continue
        if _is_shown(chosen, found, summary):
            source = entries.summary_source(summary)
            _leave_out(chosen, "level1_summaries", source, "its turns are shown raw")
        else:
            wanted.append(summary)
    fit = newest_fitting(wanted, entries.summary_entry, chosen.room)
    chosen.short_term = [summary for summary, _ in fit.shown]
    _note(
        chosen,
        "level1_summaries",
        fit,
        lambda summary: Item(
            "level1_summaries",
            entries.summary_source(summary),
            "earlier in this conversation, in no long-term summary yet",
            0,
        ),
    )


def _is_shown(chosen: Selection, found: Material, summary: Summary) -> bool:
    """Tell whether all turns of a summary are shown raw."""
    if summary.conversation_id != found.conversation_id or not chosen.recent:
        return False
    first, last = (turn.user.turn_index or 0 for turn in (chosen.recent[0], chosen.recent[-1]))
    return first <= summary.start_turn_index and summary.end_turn_index <= last


def _note(
    chosen: Selection, section: Section, fit: Fit[Thing], item_of: Callable[[Thing], Item]
) -> None:
    """Add a section to the text, and account for what is in it and what is not."""
    room = chosen.room + FENCE_CHARS
    while fit.shown:
        whole = fenced(NAMES[section], "\n\n".join(text for _, text in fit.shown))
        if len(whole) <= room:
            chosen.sections[section] = whole
            break
        fit.left_out.insert(0, fit.shown.pop()[0])  # fencing may have made it longer
    for thing, text in fit.shown:
        item = item_of(thing)
        chosen.items.append(
            Item(item.section, item.source, item.why, len(text), item.score, item.note)
        )
    for thing in fit.left_out:
        _leave_out(chosen, section, item_of(thing).source, "over the budget")


def _leave_out(chosen: Selection, section: Section, source: str, why: str) -> None:
    chosen.left_out.append(LeftOut(section, source, why))
