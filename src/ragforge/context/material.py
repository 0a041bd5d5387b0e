"""Material: all that was found for a message, before it is decided what of it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ragforge.context.excerpts import Excerpt
from ragforge.context.instructions import Instructions
from ragforge.context.replay import Replays
from ragforge.domain.hits import MemoryHit, NoteHit
from ragforge.domain.receipts import Layout
from ragforge.domain.summaries import Summary
from ragforge.domain.turns import Turn
from ragforge.memory.code.age import StaleCode


@dataclass(frozen=True, slots=True)
class OwnPast:
    """The past of the conversation itself."""

    turns: Sequence[Turn] = ()  # the newest, oldest first
    level_2: Sequence[Summary] = ()  # oldest first
    level_1: Sequence[Summary] = ()  # those that no level 2 covers, oldest first
    starts: frozenset[int] = frozenset()  # the turns at which summarised stretches begin
    layout: Layout | None = None  # of the request before
    replays: Replays = field(default_factory=Replays)  # of the turns


@dataclass(frozen=True, slots=True)
class Memory:
    """Something that was found in memory, with what makes it understood."""

    hit: MemoryHit
    aged: Sequence[StaleCode] = ()
    before: Turn | None = None  # the turn before it


@dataclass(frozen=True, slots=True)
class Material:
    """All that was found."""

    conversation_id: str
    own: OwnPast = field(default_factory=OwnPast)
    memories: Sequence[Memory] = ()  # best first
    notes: Sequence[NoteHit] = ()  # best first
    code: Sequence[Excerpt] = ()  # best first
    documents: Sequence[Excerpt] = ()  # best first
    instructions: Instructions = field(default_factory=Instructions)
