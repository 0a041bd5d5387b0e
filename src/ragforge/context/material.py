"""Material: everything that was found for a message, before the selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ragforge.context.excerpts import Excerpt
from ragforge.context.instructions import Instructions
from ragforge.context.replay import Replays
from ragforge.domain.hits import MemoryHit, NoteHit, TurnHit
from ragforge.domain.receipts import Layout
from ragforge.domain.summaries import Summary
from ragforge.domain.turns import Turn
from ragforge.memory.code.stale import StaleCode
from ragforge.records import dataclass


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
class Memory:
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
    memories: Sequence[Memory] = ()  # best first
    notes: Sequence[NoteHit] = ()  # best first
    standing: Sequence[TurnHit] = ()  # turns with instructions that apply, best first
    code: Sequence[Excerpt] = ()  # best first
    documents: Sequence[Excerpt] = ()  # best first
    words: frozenset[str] = frozenset()  # of the message, as they are searched for
    unknown: Sequence[str] = ()  # words of it that the project holds nowhere
    in_order: bool = False  # whether the message asks in which order things happened
    instructions: Instructions = field(default_factory=Instructions)
