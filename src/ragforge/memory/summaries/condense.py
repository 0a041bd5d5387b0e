"""Condense: make each due summary exactly once, in the background, in spite of crashes.

The turns that are due determine the ids of the job and of the summary. So there is one job and one
summary, however often the work is noticed or repeated. A repeated job finds its summary, and those
that it made after it, and continues from there: links, vectors, overview, the next due summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ragforge.domain.conversations import AGENT, ConversationChanges
from ragforge.domain.schema import CONVERSATION, SUMMARY
from ragforge.domain.summaries import Level, Summary, SummaryFilter
from ragforge.domain.text import Json, shorten_words
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.domain.work import NewJob
from ragforge.errors import ConversationNotFound, SummaryNotFound, TurnNotFound
from ragforge.memory.code.links import link_summaries
from ragforge.memory.embed import embed_items
from ragforge.memory.past_turns import recall_turn
from ragforge.memory.summaries import material
from ragforge.memory.summaries.due import (
    IsGone,
    Level1Check,
    Level2Check,
    Thresholds,
    should_create_l1_summary,
    should_create_l2_summary,
)
from ragforge.memory.summaries.material import Draft
from ragforge.ports.models import Embedder
from ragforge.ports.store import Store
from ragforge.records import dataclass

SUMMARY_CHARS = 6_000
ITEM_CHARS = 500
MAX_FILES = 200
MAX_FINDINGS = 20
MAX_TOPICS = 10
EXTRACTIVE = "extractive"
SUMMARY_JOB = "summarise"
LEVELS: tuple[Level, ...] = (1, 2)
MAX_IN_A_ROW = 32
"""How many summaries one job makes: other jobs wait for it."""
OVERVIEW_CHARS = 2_000
MIN_SHARE = 200
"""The minimum number of characters for each summary in the overview; the oldest get none."""


class Summariser(Protocol):
    """Writes summaries. Raises ModelError if it cannot."""

    name: str

    async def summarise_turns(self, turns: Sequence[Turn]) -> Draft: ...

    async def summarise_summaries(self, summaries: Sequence[Summary]) -> Draft: ...


class ExtractiveSummariser:
    """Extracts sentences; needs no model and never fails."""

    name = EXTRACTIVE

    async def summarise_turns(self, turns: Sequence[Turn]) -> Draft:
        from ragforge.memory.summaries import extract

        return extract.summarise_turns(turns)

    async def summarise_summaries(self, summaries: Sequence[Summary]) -> Draft:
        from ragforge.memory.summaries import extract

        return extract.summarise_summaries(summaries)


async def summarise_level_1(
    summariser: Summariser, conversation_id: str, due: Level1Check
) -> Summary:
    """Return the summary of the turns that are due. Raises ModelError."""
    turns = due.turns_to_summarize
    said = [kept for turn in turns if (kept := recall_turn(turn)) is not None]
    draft = await (summariser if said else ExtractiveSummariser()).summarise_turns(said)
    return _make_summary(
        conversation_id,
        due,
        draft,
        level=1,
        start_turn_index=turns[0].user.turn_index or 0,
        end_turn_index=turns[-1].user.turn_index or 0,
        files_mentioned=_clean_items(
            [*material.find_files(said), *draft.files_mentioned], MAX_FILES
        ),
        tools_used=tuple(material.count_tools(said)),
        made_by=summariser.name,
    )


async def summarise_level_2(
    summariser: Summariser, conversation_id: str, due: Level2Check
) -> Summary:
    """Return the summary of the summaries that are due. Raises ModelError."""
    parents = due.summaries_to_summarize
    return _make_summary(
        conversation_id,
        due,
        await summariser.summarise_summaries(parents),
        level=2,
        start_turn_index=parents[0].start_turn_index,
        end_turn_index=parents[-1].end_turn_index,
        files_mentioned=tuple(
            dict.fromkeys(one for each in parents for one in each.files_mentioned)
        ),
        tools_used=tuple(dict.fromkeys(one for each in parents for one in each.tools_used)),
        parent_summaries=tuple(parent.uuid for parent in parents),
        made_by=summariser.name,
    )


def _make_summary(
    conversation_id: str, due: Level1Check | Level2Check, draft: Draft, **facts: Any
) -> Summary:
    """Return a summary of what is due, with the texts of a draft within their limits."""
    return Summary(
        conversation_id=conversation_id,
        conversation_summary=shorten_words(draft.conversation_summary, SUMMARY_CHARS),
        actions_summary=shorten_words(draft.actions_summary, SUMMARY_CHARS),
        key_findings=_clean_items(draft.key_findings, MAX_FINDINGS),
        topics=_clean_items(draft.topics, MAX_TOPICS),
        char_range_start=due.char_range_start,
        char_range_end=due.char_range_end,
        uuid=due.make_summary_id(conversation_id),
        **facts,
    )


def _clean_items(items: Sequence[str], limit: int) -> tuple[str, ...]:
    """Return the first items that are not empty, each once and shortened."""
    lines = (shorten_words(" ".join(item.split()), ITEM_CHARS) for item in items)
    return tuple(dict.fromkeys(line for line in lines if line))[:limit]


@dataclass(frozen=True, slots=True)
class Condenser:
    """Summarises conversations when summaries are due."""

    store: Store
    summariser: Summariser
    thresholds: Thresholds
    embedder: Embedder | None
    is_enabled: bool = True  # else summaries are made only on request
    is_gone: IsGone = lambda process: False  # whether the process that answers a turn is gone
    of_others: Summariser | None = None  # for sessions of other agents; None: the same

    async def enqueue_due(self, conversation_id: str) -> int:
        """Queue the summaries that are due; one that failed permanently is tried again.

        Returns how many jobs are new. Raises ConversationNotFound.
        """
        if not self.is_enabled:
            return 0
        jobs = []
        for level in LEVELS:
            due = await self._check_due(conversation_id, level)
            if due.should_create:
                uuid = due.make_summary_id(conversation_id)
                payload = {"conversation": conversation_id, "level": level, "summary": uuid}
                jobs.append(NewJob(f"summary:{uuid}", SUMMARY_JOB, payload))
        return await self.store.jobs.enqueue(jobs, again=True) if jobs else 0

    async def work(self, payload: Json) -> None:
        """Do a job: make its summary if it is still due, and queue what is due next.

        Without a model, what is due next is made at once: an imported session has many summaries.
        Raises ModelError if the model fails; the turns stay as they are.
        """
        conversation_id, level, uuid = payload["conversation"], payload["level"], payload["summary"]
        made: list[Summary] = []
        try:
            known = await self._find_summary(uuid)
            new = await self._make(conversation_id, level, uuid) if known is None else known
            if known is not None:  # the job is repeated, and may have made more
                made = await self._list_others_since(known)
            while new is not None:
                made.append(new)
                new = await self._make_next(conversation_id) if len(made) < MAX_IN_A_ROW else None
            if made:
                await link_summaries(self.store, made)
                await self._save_overview(conversation_id)
            await self.enqueue_due(conversation_id)
            if made:
                await self._embed(conversation_id, [one.uuid for one in made])
        except (ConversationNotFound, SummaryNotFound):
            pass  # deleted meanwhile: nothing is due any more

    async def summarise_all(self, conversation_id: str) -> str:
        """Return the summary of a whole conversation, up to its last turn, and store it.

        It covers no turns: these are still summarised as usual. Raises ModelError,
        ConversationNotFound.
        """
        parts = await self._list_top(conversation_id)
        left = await self.store.timeline.coverage(conversation_id)
        if left:
            messages = await self.store.timeline.messages(
                conversation_id, left[0].turn_index, with_receipts=False
            )
            wanted = {turn.turn_index for turn in left}
            turns = [t for t in group_into_turns(messages) if t.user.turn_index in wanted]
            chars = sum(turn.chars for turn in left)
            rest = Level1Check(True, chars, 0, 0, chars, tuple(turns))
            parts.append(await summarise_level_1(self.summariser, conversation_id, rest))
        if not parts:
            return ""
        text = parts[0].conversation_summary
        if len(parts) > 1:
            text = (await self.summariser.summarise_summaries(parts)).conversation_summary
        changes = ConversationChanges(summary=text)
        await self.store.records.update(CONVERSATION, conversation_id, changes)
        await self._embed_overview(conversation_id)
        return text

    async def check_level_1(self, conversation_id: str) -> Level1Check:
        """Check whether a short-term summary is due, and of what. Raises ConversationNotFound."""
        limits = self.thresholds
        return await should_create_l1_summary(
            self.store, conversation_id, limits.level_1, limits.messages, self.is_gone
        )

    async def _check_due(self, conversation_id: str, level: Level) -> Level1Check | Level2Check:
        if level == 1:
            return await self.check_level_1(conversation_id)
        return await should_create_l2_summary(self.store, conversation_id, self.thresholds.level_2)

    async def _find_summary(self, uuid: str) -> Summary | None:
        try:
            return await self.store.records.get(SUMMARY, uuid)
        except SummaryNotFound:
            return None

    async def _make(self, conversation_id: str, level: Level, uuid: str) -> Summary | None:
        """Make and save the summary, unless what it covers has changed meanwhile."""
        due = await self._check_due(conversation_id, level)
        if not due.should_create or due.make_summary_id(conversation_id) != uuid:
            return None
        return await self._save(await self._pick_summariser(conversation_id), conversation_id, due)

    async def _make_next(self, conversation_id: str) -> Summary | None:
        """Make and save a summary that is due, if that takes no model."""
        summariser = await self._pick_summariser(conversation_id)
        if summariser.name != EXTRACTIVE or not self.is_enabled:
            return None
        for level in LEVELS:
            due = await self._check_due(conversation_id, level)
            if due.should_create:
                return await self._save(summariser, conversation_id, due)
        return None

    async def _list_others_since(self, first: Summary) -> list[Summary]:
        """Return the other summaries of what a summary covers, or of what follows it."""
        every = await self.store.records.find(SUMMARY, SummaryFilter(first.conversation_id))
        return [
            one
            for one in every
            if one.end_turn_index >= first.start_turn_index and one.uuid != first.uuid
        ]

    async def _save(
        self, summariser: Summariser, conversation_id: str, due: Level1Check | Level2Check
    ) -> Summary | None:
        """Make and save the summary of what is due; None if some of it was deleted meanwhile."""
        if isinstance(due, Level1Check):
            summary = await summarise_level_1(summariser, conversation_id, due)
            turn_ids = [turn.uuid for turn in due.turns_to_summarize]
        else:
            summary = await summarise_level_2(summariser, conversation_id, due)
            turn_ids = []
        try:
            await self.store.timeline.save_summary(summary, turn_ids)
        except (TurnNotFound, SummaryNotFound):
            return None
        return summary

    async def _pick_summariser(self, conversation_id: str) -> Summariser:
        """Return who summarises a session: on those of other agents no tokens are spent unasked."""
        if self.of_others is None:
            return self.summariser
        agent = (await self.store.records.get(CONVERSATION, conversation_id)).agent
        return self.summariser if agent == AGENT else self.of_others

    async def _embed(self, conversation_id: str, ids: Sequence[str]) -> None:
        if self.embedder is None:
            return
        await embed_items(self.store, SUMMARY, self.embedder, ids)
        await self._embed_overview(conversation_id)

    async def _embed_overview(self, conversation_id: str) -> None:
        if self.embedder is None:
            return
        conversation = await self.store.records.get(CONVERSATION, conversation_id)
        [whole] = await self.embedder.embed([conversation.summary or ""])
        if whole is not None:
            await self.store.index.embed(CONVERSATION, {conversation.uuid: whole})

    async def _save_overview(self, conversation_id: str) -> None:
        changes = ConversationChanges(summary=await self._build_overview(conversation_id))
        await self.store.records.update(CONVERSATION, conversation_id, changes)

    async def _build_overview(self, conversation_id: str) -> str:
        """Return the conversation's newest summaries as one text, shortened."""
        top = await self._list_top(conversation_id)
        newest = top[-OVERVIEW_CHARS // MIN_SHARE :]
        share = OVERVIEW_CHARS // max(1, len(newest)) - 2
        return "\n\n".join(shorten_words(one.conversation_summary, share) for one in newest)

    async def _list_top(self, conversation_id: str) -> list[Summary]:
        """Return the summaries that no other summary covers, oldest first."""
        find = self.store.records.find
        long_term = await find(SUMMARY, SummaryFilter(conversation_id, level=2))
        short_term = await find(SUMMARY, SummaryFilter(conversation_id, outside_level_2=True))
        return sorted([*long_term, *short_term], key=lambda one: one.start_turn_index)
