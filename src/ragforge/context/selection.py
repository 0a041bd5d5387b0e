"""Selection: what was found for a message, and what of it goes into the context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TypeVar

from ragforge.context.budget import BETWEEN, Fit
from ragforge.context.excerpts import Excerpt
from ragforge.context.instructions import Instructions
from ragforge.context.replay import Replays
from ragforge.context.window import Window
from ragforge.domain.chat import ChatMessage
from ragforge.domain.hits import MemoryHit, NoteHit, TurnHit
from ragforge.domain.receipts import SECTIONS, Layout, LeftOut, ReceiptItem, Section
from ragforge.domain.summaries import Summary
from ragforge.domain.turns import Turn
from ragforge.memory.code.changes import StaleCode
from ragforge.memory.context_tags import FENCES, MARK_CHARS, fence
from ragforge.records import dataclass

Thing = TypeVar("Thing")

NAMES: dict[Section, str] = dict(zip(SECTIONS, FENCES, strict=False))
FENCE_CHARS = max(len(fence(name, "", "x" * MARK_CHARS)) for name in NAMES.values()) + BETWEEN
OVER = "over the budget"
OWN_SUMMARIES: tuple[Section, ...] = ("level2_summaries", "level1_summaries")


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
