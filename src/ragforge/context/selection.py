"""Selection: what was found for a message, and what of it fits into the context, the best first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Generic, TypeVar

from ragforge.context.excerpts import Excerpt
from ragforge.context.instructions import Instructions
from ragforge.context.replay import Replays, Window
from ragforge.domain.chat import ChatMessage, WindowShares
from ragforge.domain.hits import MemoryHit, NoteHit, TurnHit
from ragforge.domain.receipts import SECTIONS, Layout, LeftOut, ReceiptItem, Section
from ragforge.domain.summaries import Summary
from ragforge.domain.text import shorten
from ragforge.domain.turns import Turn
from ragforge.memory.code.changes import StaleCode
from ragforge.memory.context_tags import FENCES, MARK_CHARS, fence
from ragforge.records import dataclass

MIN_CUT = 200
"""A shorter part is not worth showing."""
BETWEEN = 2
"""Characters between two entries."""
ENTRIES = 4
"""Even a small budget shows several memories."""
MISSES = 10
"""After this number of misses in a row the others are not tried: they are hardly shorter."""

Thing = TypeVar("Thing")

NAMES: dict[Section, str] = dict(zip(SECTIONS, FENCES, strict=False))
FENCE_CHARS = max(len(fence(name, "", "x" * MARK_CHARS)) for name in NAMES.values()) + BETWEEN
OVER = "over the budget"
OWN_SUMMARIES: tuple[Section, ...] = ("level2_summaries", "level1_summaries")


@dataclass(frozen=True, slots=True)
class Budget:
    """How many characters a context and its parts may have, fences included.

    Memories get the rest. Counts that are None do not restrict.
    """

    total: int
    queries: int
    recent: int
    code: int
    code_hits: int = 100  # how many are searched for, before the selection
    recent_turns: int | None = None
    memories: int | None = None
    level_1: int | None = None  # of the conversation's own short-term summaries
    min_score: float = 0.0  # of memories
    recalls: bool = True  # else only the newest turns of the conversation are used
    keeps_code: bool = False  # the part of code is not made smaller for memories

    def shrink(self, shares: WindowShares) -> Budget:
        """Return the budget with all parts made smaller, if it is larger than a model takes."""
        total = shares.context
        if total is None or total >= self.total:
            return self
        parts = ("queries", "recent", "code")
        smaller = {part: getattr(self, part) * total // self.total for part in parts}
        if shares.code is not None:  # a small model rarely searches again
            return replace(self, total=total, **{**smaller, "code": shares.code}, keeps_code=True)
        return replace(self, total=total, **smaller)

    @property
    def entry(self) -> int:
        """The most characters of one memory, so that the best leaves room for the next."""
        return max(min(1_000, self.total // ENTRIES), self.total // 20)

    @property
    def own_summaries(self) -> int:
        """For the conversation's own summaries, which are part of every request."""
        return self.total * 3 // 10 if self.recalls else 0

    @property
    def instructions(self) -> int:
        """For the project's own instructions."""
        return self.total // 10


@dataclass(frozen=True, slots=True)
class Fit(Generic[Thing]):
    """Which things are shown, and which are left out."""

    shown: list[tuple[Thing, str]] = field(default_factory=list)  # with its text
    cut: list[Thing] = field(default_factory=list)  # shown, without their middle
    left_out: list[Thing] = field(default_factory=list)

    @property
    def chars(self) -> int:
        return sum(len(text) + BETWEEN for _, text in self.shown)


def select_fitting(
    things: Sequence[Thing], text_of: Callable[[Thing], str], chars: int, *, may_cut: bool = False
) -> Fit[Thing]:
    """Return the things whose texts fit, in their order. One that does not fit is skipped.

    With `may_cut`, the best of those skipped is shown without its middle, if there is room.
    """
    fit: Fit[Thing] = Fit()
    kept: dict[int, str] = {}
    skipped: dict[int, str] = {}
    misses = 0
    for at, thing in enumerate(things):
        if misses == MISSES:
            break
        text = text_of(thing)
        if len(text) + BETWEEN <= chars:
            kept[at] = text
            chars -= len(text) + BETWEEN
            misses = 0
        else:
            skipped[at] = text
            misses += 1
    if may_cut and skipped and chars - BETWEEN >= MIN_CUT:
        best = min(skipped)
        kept[best] = shorten(skipped[best], chars - BETWEEN)
        fit.cut.append(things[best])
    left = [at for at in range(len(things)) if at not in kept]
    fit.shown.extend((things[at], kept[at]) for at in sorted(kept))
    fit.left_out.extend(things[at] for at in left)
    return fit


def select_newest(
    things: Sequence[Thing], text_of: Callable[[Thing], str], chars: int
) -> Fit[Thing]:
    """Return the newest things that fit, without gaps. The things come oldest first."""
    fit: Fit[Thing] = Fit()
    for at in range(len(things) - 1, -1, -1):
        text = text_of(things[at])
        chars -= len(text) + BETWEEN
        if chars < 0:
            fit.left_out.extend(things[: at + 1])
            break
        fit.shown.insert(0, (things[at], text))
    return fit


@dataclass(slots=True)
class ContextSelection:
    """The chosen contents of a context, as text and as objects."""

    max_chars: int
    mark: str  # of the fences
    queries: list[Turn] = field(default_factory=list)
    code: list[Excerpt] = field(default_factory=list)
    documents: list[Excerpt] = field(default_factory=list)
    recent: list[Turn] = field(default_factory=list)
    replayed: list[list[ChatMessage]] = field(default_factory=list)  # the same as messages
    window: Window = field(default_factory=lambda: Window(0, 0))
    notes: list[NoteHit] = field(default_factory=list)
    history: list[MemoryHit] = field(default_factory=list)
    long_term: list[Summary] = field(default_factory=list)
    short_term: list[Summary] = field(default_factory=list)
    items: list[ReceiptItem] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    sections: dict[Section, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Everything, in the order of the sections."""
        return self._join(SECTIONS)

    @property
    def memory_text(self) -> str:
        """The conversation's own summaries."""
        return self._join(OWN_SUMMARIES)

    @property
    def question_text(self) -> str:
        """What was found for this question."""
        others = ("recent_turns", *OWN_SUMMARIES)
        return self._join([name for name in SECTIONS if name not in others])

    @property
    def room(self) -> int:
        """How many characters are left for a further section."""
        used = sum(len(text) + BETWEEN for text in self.sections.values())
        return max(0, self.max_chars - used - FENCE_CHARS)

    def add(
        self,
        section: Section,
        fit: Fit[Thing],
        make_item: Callable[[Thing, int], ReceiptItem],
        why_left_out: str = OVER,
    ) -> None:
        """Add a section to the text, and an item for each thing to the receipt."""
        room = self.room + FENCE_CHARS
        while fit.shown:
            whole = "\n\n".join(text for _, text in fit.shown)
            whole = fence(NAMES[section], whole, self.mark)
            if len(whole) <= room:
                self.sections[section] = whole
                break
            fit.left_out.insert(0, fit.shown.pop()[0])  # fencing may have made it longer
        self.items += (make_item(thing, len(text)) for thing, text in fit.shown)
        for thing in fit.left_out:
            self.leave_out(section, make_item(thing, 0).source, why_left_out)

    def leave_out(self, section: Section, source: str, why: str) -> None:
        self.left_out.append(LeftOut(section, source, why))

    def shows_raw(self, summary: Summary, conversation_id: str) -> bool:
        """Tell whether all turns of a summary are shown themselves."""
        if summary.conversation_id != conversation_id or not self.recent:
            return False
        if summary.start_turn_index < (self.recent[0].user.turn_index or 0):
            return False  # of a long session's summaries nearly all
        shown = {turn.user.turn_index for turn in self.recent}
        return shown.issuperset(range(summary.start_turn_index, summary.end_turn_index + 1))

    def _join(self, names: Sequence[Section]) -> str:
        return "\n\n".join(self.sections[name] for name in names if name in self.sections)


@dataclass(frozen=True, slots=True)
class OwnPast:
    """The conversation's own past."""

    turns: Sequence[Turn] = ()  # the newest, oldest first
    level_2: Sequence[Summary] = ()  # oldest first
    level_1: Sequence[Summary] = ()  # those that no level 2 covers, oldest first
    starts: frozenset[int] = frozenset()  # the turns at which summarised stretches begin
    layout: Layout | None = None  # of the previous request
    replays: Replays = field(default_factory=Replays)  # of the turns


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """A hit in memory, with what helps to understand it."""

    hit: MemoryHit
    stale: Sequence[StaleCode] = ()
    before: Turn | None = None  # the turn before it


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that was found."""

    conversation_id: str
    reader: str | None = None  # the key of its author; the authors of other turns are named
    own: OwnPast = field(default_factory=OwnPast)
    memories: Sequence[RecalledMemory] = ()  # best first
    notes: Sequence[NoteHit] = ()  # best first
    standing: Sequence[TurnHit] = ()  # turns with instructions that apply, best first
    code: Sequence[Excerpt] = ()  # best first
    documents: Sequence[Excerpt] = ()  # best first
    words: frozenset[str] = frozenset()  # of the message, as they are searched for
    unknown: Sequence[str] = ()  # words of it that the project holds nowhere
    in_order: bool = False  # whether the message asks in which order things happened
    instructions: Instructions = field(default_factory=Instructions)
