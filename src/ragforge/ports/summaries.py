"""Where summaries live."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ragforge.domain.code import CodeReference, FileMention
from ragforge.domain.summaries import Level, Summary
from ragforge.domain.turns import TurnSize


class SummaryStore(Protocol):
    """Summaries of conversations and what they cover. Each write is one transaction."""

    async def save(self, summary: Summary, turn_ids: Sequence[str] = ()) -> None:
        """Store a summary; one with the same id is replaced.

        An L1 covers the turns of its range that no other L1 covers; an L2 covers its
        `parent_summaries`. Raises ConversationNotFound, SummaryNotFound for an unknown
        parent, and TurnNotFound if one of `turn_ids` is gone or another L1 covers it:
        what the summary was made of is no longer what it would cover.
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

    async def trim(
        self,
        before: datetime,
        level: Level | None = None,
        conversation_id: str | None = None,
        project_ids: Sequence[str] | None = None,
    ) -> int:
        """Delete exactly the viewer's summaries that were made before the date; return how many.

        They are of one level, conversation or project where these are given. An L2 stays when
        its L1 go. Unlike when they are deleted, what they covered does not become eligible again.
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
