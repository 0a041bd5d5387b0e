"""Titles: name a session by its first turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from ragforge.domain.conversations import Conversation
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.ports.store import Store

TitleMaker: TypeAlias = Callable[[Turn], Awaitable[str]]

TITLE_CHARS = 60


async def give_title(store: Store, conversation_id: str, make: TitleMaker) -> None:
    """Name a session that has no title yet, and gets none from the user meanwhile."""
    if (await store.records.get(CONVERSATION, conversation_id)).title is not None:
        return
    messages = await store.timeline.messages(
        conversation_id, first_turn=0, limit=20, with_receipts=False
    )
    if turns := group_into_turns(messages):
        title = await make(turns[0])

        def name(found: Conversation) -> Conversation:  # a model takes its time
            return replace(found, title=title) if found.title is None else found

        await store.records.update(CONVERSATION, conversation_id, name)


async def title_from_question(turn: Turn) -> str:
    """Return the first words of the question."""
    return shorten_to_title(turn.user.content, TITLE_CHARS)


def shorten_to_title(text: str, chars: int) -> str:
    """Return the text on one line, cut at a word where possible."""
    line = " ".join(text.split())
    if len(line) <= chars:
        return line
    cut = line[: chars - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[chars // 2 :] else cut) + "…"
