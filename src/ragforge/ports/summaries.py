"""Where summaries live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from ragforge.domain.code import CodeReference, FileMention
from ragforge.domain.hits import Match
from ragforge.domain.summaries import Level, Summary, SummaryFilter
from ragforge.domain.turns import TurnSize
from ragforge.domain.vectors import Vector


class SummaryStore(Protocol):
    """Summaries of conversations and what they cover. Each write is one transaction."""

    async def save(self, summary: Summary, turn_ids: Sequence[str] = ()) -> None:
        """Store a summary; one with the same id is replaced.

        An L1 covers the turns of its range that no other L1 covers; an L2 covers its
        `parent_summaries`. Raises ConversationNotFound, SummaryNotFound for an unknown
        parent, and TurnNotFound if one of `turn_ids` is gone or another L1 covers it:
        what the summary was made of is no longer what it would cover.
        """

    async def get(self, summary_id: str) -> Summary:
        """Raises SummaryNotFound if the id is unknown."""

    async def with_ids(self, summary_ids: Sequence[str]) -> dict[str, Summary]:
        """Return id → summary; unknown ids are left out."""

    async def find(
        self, where: SummaryFilter, limit: int | None = None, offset: int = 0
    ) -> list[Summary]:
        """Return summaries, oldest range first within a conversation. Dates are of creation."""

    async def conversations_of(self, summary_ids: Sequence[str]) -> dict[str, str]:
        """Return summary id → conversation id; unknown ids are left out."""

    async def not_in_level_2(self, conversation_id: str) -> list[Summary]:
        """Return the L1 summaries that no L2 covers, oldest first."""

    async def waiting_for_level_2(self, conversation_id: str) -> list[Summary]:
        """Return those of them that no L2 covered which was trimmed, oldest first.

        Raises ConversationNotFound.
        """

    async def uncovered_turns(self, conversation_id: str) -> list[TurnSize]:
        """Return the turns that no L1 covers, nor covered before it was trimmed, oldest first.

        Raises ConversationNotFound.
        """

    async def trimmed_turns(self, conversation_id: str, first_turn: int = 0) -> list[int]:
        """Return the indexes of the turns from one on whose L1 was trimmed, in order.

        Raises ConversationNotFound.
        """

    async def covered_turns(self, summary_id: str) -> list[int]:
        """Return the indexes of the turns an L1 covers. Raises SummaryNotFound."""

    async def chars_before(self, conversation_id: str, turn_index: int) -> int:
        """Return where a turn starts in the raw conversation. Raises ConversationNotFound."""

    async def delete(self, summary_id: str) -> None:
        """Delete it and any L2 built on it: what they covered is eligible again.

        Raises SummaryNotFound.
        """

    async def trim(
        self,
        before: datetime,
        level: Level | None = None,
        conversation_id: str | None = None,
        project_ids: Sequence[str] | None = None,
    ) -> int:
        """Delete exactly the viewer's summaries that were made before the date; return how many.

        They are of one level, conversation or project where these are given. An L2 stays when
        its L1 go. Unlike with `delete`, what they covered does not become eligible again.
        """

    async def forget_trims(self, conversation_id: str) -> None:
        """Make all that was covered by trimmed summaries eligible again.

        Raises ConversationNotFound.
        """

    async def mark_read(self, summary_ids: Sequence[str]) -> None:
        """Note that somebody was shown these now; those read before, and unknown ids, stay."""

    async def mention(
        self,
        summary_id: str,
        files: Sequence[FileMention],
        scopes: Sequence[CodeReference],
    ) -> None:
        """Set what code a summary mentions. Raises SummaryNotFound."""

    async def mentions(self, summary_id: str) -> tuple[list[FileMention], list[CodeReference]]:
        """Return the files, by path, and scopes, by file and name. Raises SummaryNotFound."""

    async def mentions_of(
        self, summary_ids: Sequence[str]
    ) -> dict[str, tuple[list[FileMention], list[CodeReference]]]:
        """Return the same for many summaries, by their ids; those that mention none are left out.

        One query: a question late in a session finds dozens of summaries.
        """

    async def embed(self, vectors: Mapping[str, Vector]) -> None:
        """Set the vectors of summaries. Raises SummaryNotFound, DimensionMismatch."""

    async def to_embed(self, model: str, limit: int) -> list[str]:
        """Return the ids of summaries without a vector of this model, oldest first."""

    async def by_words(self, query: str, where: SummaryFilter, limit: int) -> list[Match]:
        """Return summaries that hold any of the query's words, best first. Filters come first."""

    async def by_vector(
        self, vector: Vector, where: SummaryFilter, limit: int, min_score: float = 0.0
    ) -> list[Match]:
        """Return the nearest summaries of the vector's model. Filters come before the limit."""

    async def by_words_and_vector(
        self,
        query: str,
        vector: Vector | None,
        where: SummaryFilter,
        limit: int,
        min_score: float = 0.0,
    ) -> tuple[list[Match], list[Match], dict[str, Summary]]:
        """Return what `by_words` and `by_vector` do, and those summaries by id.

        A server is asked once instead of three times. Without a vector, words alone are searched.
        """
