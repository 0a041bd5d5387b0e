"""Hits: what a search found."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from ragforge.domain.notes import Note
from ragforge.domain.summaries import Level, Summary
from ragforge.domain.turns import Turn
from ragforge.records import dataclass

MIN_RELEVANCE = 0.35
"""A less likely message gets no memories, notes, code or documents."""
MIN_HIT_RELEVANCE = 0.1
"""The same for a single hit among better ones."""
NOTHING_RELEVANT = "nothing relevant"
SMALL_TALK = "small talk"
"""Why a search for relevant hits returns none."""

TURN_CONFIDENCE = 1.0
"""A turn is the original text; summaries are trusted less."""
NOTE_CONFIDENCE = 1.0
"""A note is in its author's words."""
SUMMARY_CONFIDENCE: Mapping[Level, float] = {1: 0.7, 2: 0.5}


class Match(NamedTuple):
    """The id and score of something that was found.

    Scores by words compare within one search only; by vectors they are (1 + cosine) / 2.
    """

    id: str
    score: float


class TurnMatch(NamedTuple):
    """A turn, and which words of the query it contains.

    A search makes hundreds of them, and a tuple is made in a third of the time.
    """

    id: str
    conversation_id: str
    turn_index: int
    length: int  # of its text, in words
    words: Mapping[str, int]  # word → 1, or 2 if it occurs more than once


@dataclass(frozen=True, slots=True)
class WordMatches:
    """Turns that contain words of a query, with their neighbouring turns."""

    matches: tuple[TurnMatch, ...] = ()
    counts: Mapping[str, int] | None = None  # word → how many of the searched turns contain it
    turn_count: int = 0  # how many turns were searched
    too_common: frozenset[str] = frozenset()  # words that were not searched for


@dataclass(frozen=True, slots=True)
class TurnHit:
    """A past turn that was found, and how."""

    type: ClassVar[Literal["turn"]] = "turn"
    level: ClassVar[Literal[0]] = 0
    turn: Turn
    conversation_id: str
    score: float  # 0..1; 1 contains all words of the query and means the same
    confidence: float
    found_by: tuple[str, ...]
    relevance: float = 0.0  # 0..1: the estimated probability that it is relevant

    def with_score(self, score: float) -> TurnHit:
        """Return the hit with another score."""
        return TurnHit(self.turn, self.conversation_id, score, self.confidence, self.found_by)

    def with_relevance(self, relevance: float) -> TurnHit:
        """Return the hit with its relevance; several times as fast as `dataclasses.replace`."""
        return TurnHit(
            self.turn, self.conversation_id, self.score, self.confidence, self.found_by, relevance
        )

    @property
    def turn_range(self) -> tuple[int, int]:
        """The first and the last turn that it covers."""
        index = self.turn.user.turn_index or 0
        return index, index

    @property
    def timestamp(self) -> datetime:
        return self.turn.user.timestamp


@dataclass(frozen=True, slots=True)
class SummaryHit:
    """A summary that was found, and how."""

    type: ClassVar[Literal["summary"]] = "summary"
    summary: Summary
    score: float
    confidence: float
    found_by: tuple[str, ...]
    relevance: float = 0.0  # as that of a turn

    def with_relevance(self, relevance: float) -> SummaryHit:
        """Return the hit with its relevance."""
        return SummaryHit(self.summary, self.score, self.confidence, self.found_by, relevance)

    @property
    def level(self) -> Level:
        return self.summary.level

    @property
    def conversation_id(self) -> str:
        return self.summary.conversation_id

    @property
    def turn_range(self) -> tuple[int, int]:
        """The first and the last turn that it covers."""
        return self.summary.start_turn_index, self.summary.end_turn_index

    @property
    def timestamp(self) -> datetime:
        return self.summary.created_at


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A note that was found, and how."""

    type: ClassVar[Literal["note"]] = "note"
    level: ClassVar[None] = None
    note: Note
    score: float  # 0..1: the estimated probability that it is relevant
    confidence: float
    found_by: tuple[str, ...]

    @property
    def relevance(self) -> float:
        return self.score

    @property
    def conversation_id(self) -> str:
        """The conversation in which it was made; empty if in none."""
        return self.note.conversation_id or ""

    @property
    def timestamp(self) -> datetime:
        return self.note.created_at


MemoryHit: TypeAlias = TurnHit | SummaryHit
HistoryHit: TypeAlias = TurnHit | SummaryHit | NoteHit
"""Everything that a search of memory may find."""

HitType = TypeVar("HitType")


@dataclass(frozen=True, slots=True)
class RelevantHits(Generic[HitType]):
    """The hits that are relevant to a message, best first; or the reason why there are none."""

    hits: tuple[HitType, ...] = ()
    reason: str = ""  # one of the above, or empty
