"""Titles: name a session by its first turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from ragforge.domain.conversations import ConversationChanges
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.ports.conversations import ConversationStore

TitleMaker: TypeAlias = Callable[[Turn], Awaitable[str]]

TITLE_CHARS = 60


async def give_title(store: ConversationStore, conversation_id: str, make: TitleMaker) -> None:
    """Name a session that has no title yet, and gets none from the user meanwhile."""
    if (await store.get(conversation_id)).title is not None:
        return
    first_turn = await store.messages(conversation_id, first_turn=0, limit=20, with_receipts=False)
    if turns := group_into_turns(first_turn):
        title = await make(turns[0])
        if (await store.get(conversation_id)).title is None:  # a model takes its time
            await store.update(conversation_id, ConversationChanges(title=title))


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
