"""batch_analyze: the same question about many items, each answered by a model."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from ragforge.domain.text import Json
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import Tool
from ragforge.llm.executor import StructuredLLMExecutor, batch_analyze
from ragforge.llm.task import BatchResult
from ragforge.records import dataclass
from ragforge.tools.tool import Arguments, as_tool


class AnalyzeArguments(Arguments):
    """What batch_analyze is called with."""

    items: list[str] = Field(min_length=1, max_length=500, description="Texts, one each")
    task: str = Field(min_length=1, max_length=10_000, description="What to do with each")
    output_schema: dict[str, Any] = Field(
        description='Fields of each output: {"risk": {"type": "string"}}, or a JSON schema'
    )


@dataclass(frozen=True, slots=True)
class Analyzed:
    """An output or an error for each item, in their order."""

    result: BatchResult[BaseModel]

    def to_json(self) -> Json:
        return [
            {"error": str(outcome.error)}
            if outcome.output is None
            else outcome.output.model_dump(mode="json")
            for outcome in self.result.outcomes
        ]


def make_analyze_tool(asker: ChatClient) -> Tool:
    """Return batch_analyze for a model."""

    async def call(given: AnalyzeArguments) -> Analyzed:
        executor = StructuredLLMExecutor(asker)
        result = await batch_analyze(executor, given.items, given.task, given.output_schema)
        return Analyzed(result)

    return as_tool("batch_analyze", AnalyzeArguments, call)
