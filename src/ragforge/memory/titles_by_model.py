"""Titles by model: name a session in the words of a chat model."""

from __future__ import annotations

from pydantic import BaseModel, Field

from ragforge.domain.turns import Turn
from ragforge.errors import ModelError
from ragforge.llm.executor import StructuredLLMExecutor
from ragforge.llm.prompts import load_prompt
from ragforge.llm.task import InputField, Task
from ragforge.memory.titles import TITLE_CHARS, TitleMaker, shorten_to_title, title_from_question

SHOWN_CHARS = 2_000


class _Title(BaseModel):
    title: str = Field(min_length=1, max_length=200)


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
