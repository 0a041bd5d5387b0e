"""History: what a conversation holds, read in order and within a number of characters."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ragforge.domain.code import TouchKind, pick_strongest
from ragforge.domain.instants import now
from ragforge.domain.summaries import Level, Summary, SummaryFilter
from ragforge.domain.turns import Turn, UserQuery, group_into_turns
from ragforge.ports.store import Store

PAGE = 32
MOST_TOUCHES = 100_000


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """A file that a conversation had to do with: the most that was done with it, and when last."""

    path: str
    how: TouchKind
    when: datetime


@dataclass(frozen=True, slots=True)
class History:
    """Reads the past of conversations in one store."""

    store: Store

    async def get_recent_turns(
        self,
        conversation_id: str,
        max_chars: int | None = None,
        limit: int | None = None,
        without: Iterable[str] = (),
    ) -> list[Turn]:
        """Return the newest whole turns that fit, oldest of them first.

        They fit in a number of characters and are at most `limit`; None does not restrict.
        """
        fits = _make_limit(max_chars, limit, lambda turn: turn.char_count)
        return await self.get_turns_while(conversation_id, fits, without)

    async def get_last_user_queries(
        self,
        conversation_id: str,
        max_chars: int | None = None,
        limit: int | None = None,
        without: Iterable[str] = (),
    ) -> list[UserQuery]:
        """Return the newest questions that fit, as `get_recent_turns` does whole turns."""
        fits = _make_limit(max_chars, limit, lambda turn: len(turn.user.content))
        turns = await self.get_turns_while(conversation_id, fits, without)
        return [
            UserQuery(turn.user.content, turn.user.timestamp, turn.user.turn_index or 0)
            for turn in turns
        ]

    async def get_turns_while(
        self,
        conversation_id: str,
        is_wanted: Callable[[Turn], bool],
        without: Iterable[str] = (),
    ) -> list[Turn]:
        """Return the newest turns up to the first that is not wanted, oldest of them first."""
        kept: list[Turn] = []
        async for turn in self._newest(conversation_id, without):
            if not is_wanted(turn):
                break
            kept.append(turn)
        return kept[::-1]

    async def get_raw_history_char_count(self, conversation_id: str) -> int:
        """Return how many characters of a conversation no summary covers.

        These are what was said and what tools returned. The total of the whole conversation
        is `Conversation.total_chars`.
        """
        waiting = await self.store.summaries.uncovered_turns(conversation_id)
        return sum(turn.chars for turn in waiting)

    async def get_level1_summaries_not_summarized(self, conversation_id: str) -> list[Summary]:
        """Return the short-term summaries that no long-term one covers, oldest first."""
        return await self.store.summaries.not_in_level_2(conversation_id)

    async def get_summaries_by_date_range(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        conversation_id: str | None = None,
        level: Level | None = None,
    ) -> list[Summary]:
        """Return the summaries that were made between two moments."""
        where = SummaryFilter(conversation_id, level=level, since=since, until=until)
        return await self.store.summaries.find(where)

    async def get_recent_summaries(
        self, days: float, conversation_id: str | None = None, level: Level | None = None
    ) -> list[Summary]:
        """Return the summaries of the last days."""
        since = now() - timedelta(days=days)
        return await self.get_summaries_by_date_range(since, None, conversation_id, level)

    async def get_summaries_mentioning_file(
        self, path: str, project_path: str | None = None, level: Level | None = None
    ) -> list[Summary]:
        """Return the summaries that mention a file, given by its path in the project, newest
        first.
        """
        where = SummaryFilter(project_path=project_path, level=level, file=path)
        return _sort_newest_first(await self.store.summaries.find(where))

    async def get_unread_findings(
        self, project_path: str | None = None, conversation_id: str | None = None
    ) -> list[Summary]:
        """Return the summaries with findings that nobody was shown yet, newest first.

        They stay unread until `mark_findings_read`.
        """
        where = SummaryFilter(conversation_id, project_path, unread=True)
        return _sort_newest_first(await self.store.summaries.find(where))

    async def mark_findings_read(self, summaries: Iterable[Summary]) -> None:
        """Note that somebody was shown what these found out."""
        await self.store.summaries.mark_read([summary.uuid for summary in summaries])

    async def get_files(self, conversation_id: str) -> list[TouchedFile]:
        """Return the files that a conversation edited, read or named, the last touched first.

        Raises ConversationNotFound.
        """
        await self.store.conversations.get(conversation_id)
        touches = await self.store.conversations.touches(
            conversation_id=conversation_id, limit=MOST_TOUCHES
        )
        files: dict[str, TouchedFile] = {}
        for touch in touches:  # the newest first
            known = files.setdefault(touch.file, TouchedFile(touch.file, touch.how, touch.when))
            files[touch.file] = replace(known, how=pick_strongest((known.how, touch.how)))
        return list(files.values())

    async def trim_summaries_by_date(
        self,
        before: datetime,
        level: Level | None = None,
        conversation_id: str | None = None,
        project_path: str | None = None,
    ) -> int:
        """Delete exactly the summaries made before then: of one level, conversation or project
        where these are given.

        They are not made again from the same turns. Returns how many went.
        """
        return await self.store.summaries.trim(before, level, conversation_id, project_path)

    async def _newest(self, conversation_id: str, without: Iterable[str]) -> AsyncIterator[Turn]:
        """Yield turns, the newest first, reading no more of them than are asked for."""
        left_out = set(without)
        # Turns that were deleted leave gaps: there are no fewer than this after the count.
        page = PAGE
        first = (await self.store.conversations.get(conversation_id)).turn_count - page
        last: int | None = None
        while last is None or last >= 0:
            messages = await self.store.conversations.messages(
                conversation_id, first_turn=max(first, 0), last_turn=last
            )
            for turn in reversed(group_into_turns(messages)):
                if turn.uuid not in left_out:
                    yield turn
            page *= 2  # whoever wants more than these wants many
            first, last = first - page, first - 1


def _sort_newest_first(summaries: Iterable[Summary]) -> list[Summary]:
    return sorted(summaries, key=lambda summary: summary.created_at, reverse=True)


def _make_limit(
    max_chars: int | None, limit: int | None, size_of: Callable[[Turn], int]
) -> Callable[[Turn], bool]:
    """Return a function that says of one turn after the other whether it still fits."""
    chars = turns = 0

    def fits(turn: Turn) -> bool:
        nonlocal chars, turns
        turns += 1
        chars += size_of(turn)
        is_short = max_chars is None or chars <= max_chars
        return is_short and (limit is None or turns <= limit)

    return fits
