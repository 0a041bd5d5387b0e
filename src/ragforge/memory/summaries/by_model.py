"""By model: summaries that a chat model writes."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from ragforge.domain.summaries import Summary, format_whole_summary
from ragforge.domain.turns import Turn
from ragforge.errors import ModelError
from ragforge.llm.executor import StructuredLLMExecutor
from ragforge.llm.prompts import load_prompt
from ragforge.llm.task import InputField, Task
from ragforge.memory.sessions import TITLE_CHARS, TitleMaker, shorten_to_title, title_from_question
from ragforge.memory.summaries import material
from ragforge.memory.summaries.material import Draft

MATERIAL_CHARS = 60_000
"""The most that a model reads at once; longer turns lose their middles."""


SHOWN_CHARS = 2_000


class _Written(BaseModel):
    """The parts of a summary that a summariser writes."""

    conversation_summary: str = Field(min_length=1, description="What was discussed and why.")
    actions_summary: str = Field(default="", description="What was done, and what came of it.")
    key_findings: list[str] = Field(
        default_factory=list, description="Facts, causes and decisions worth keeping, one each."
    )
    files_mentioned: list[str] = Field(
        default_factory=list, description="Paths of files that play a part, as written."
    )
    topics: list[str] = Field(default_factory=list, description="What it is about, in keywords.")


class ModelSummariser:
    """Asks a chat model."""

    def __init__(self, executor: StructuredLLMExecutor, name: str) -> None:
        self.name = name
        self._executor = executor

    async def summarise_turns(self, turns: Sequence[Turn]) -> Draft:
        return await self._draft("summary_1", material.format_turns(turns, MATERIAL_CHARS))

    async def summarise_summaries(self, summaries: Sequence[Summary]) -> Draft:
        texts = [format_whole_summary(summary) for summary in summaries]
        return await self._draft("summary_2", "\n\n".join(texts))

    async def _draft(self, name: str, text: str) -> Draft:
        instruction = load_prompt("ragforge.memory.prompts", name)
        task = Task(instruction, _Written, [InputField("record", MATERIAL_CHARS)])
        outcome = await self._executor.execute(task, {"record": text})
        assert outcome.output is not None
        written = outcome.output.model_dump()
        written["files_mentioned"] = [file for file in written["files_mentioned"] if file in text]
        return Draft(**written)


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
