"""Titles: name a session by its first turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from pydantic import BaseModel, Field

from ragforge.domain.conversations import ConversationChanges
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.errors import ModelError
from ragforge.llm.executor import StructuredLLMExecutor
from ragforge.llm.prompts import load_prompt
from ragforge.llm.task import InputField, Task
from ragforge.ports.conversations import ConversationStore

TitleMaker: TypeAlias = Callable[[Turn], Awaitable[str]]

TITLE_CHARS = 60
SHOWN_CHARS = 2_000


class _Title(BaseModel):
    title: str = Field(min_length=1, max_length=200)


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


def make_model_titler(executor: StructuredLLMExecutor) -> TitleMaker:
    """Return a title maker that asks a model, and uses the question if that fails."""
    fields = [InputField("question", SHOWN_CHARS), InputField("answer", SHOWN_CHARS)]

    async def make(turn: Turn) -> str:
        instruction = load_prompt("ragforge.memory.prompts", "title")
        exchange = {"question": turn.user.content, "answer": turn.answer}
        try:
            outcome = await executor.execute(Task(instruction, _Title, fields), exchange)
        except ModelError:
            return await title_from_question(turn)
        assert outcome.output is not None
        return shorten_to_title(outcome.output.title, TITLE_CHARS)

    return make


def shorten_to_title(text: str, chars: int) -> str:
    """Return the text on one line, cut at a word where possible."""
    line = " ".join(text.split())
    if len(line) <= chars:
        return line
    cut = line[: chars - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[chars // 2 :] else cut) + "…"
