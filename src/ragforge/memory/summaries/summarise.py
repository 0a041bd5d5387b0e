"""Summarise: make a summary of turns, or of summaries, with a given summariser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ragforge.domain.summaries import Summary
from ragforge.domain.text import shorten_words
from ragforge.domain.turns import Turn
from ragforge.memory.past_turns import recall_turn
from ragforge.memory.summaries import material
from ragforge.memory.summaries.due import Level1Check, Level2Check
from ragforge.memory.summaries.material import Draft

SUMMARY_CHARS = 6_000
ITEM_CHARS = 500
MAX_FILES = 200
MAX_FINDINGS = 20
MAX_TOPICS = 10
EXTRACTIVE = "extractive"


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
