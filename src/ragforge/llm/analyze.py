"""batch_analyze: one question about many items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ragforge.domain.text import Json
from ragforge.llm.executor import StructuredLLMExecutor
from ragforge.llm.results import BatchResult, OnProgress
from ragforge.llm.shapes import build_output_model
from ragforge.llm.task import InputField, Packing, Task

ITEM_CHARS = 20_000


async def batch_analyze(
    executor: StructuredLLMExecutor,
    items: Sequence[Json],
    task: str,
    output_schema: type[BaseModel] | Mapping[str, Any],
    packing: Packing | None = None,
    on_progress: OnProgress | None = None,
) -> BatchResult[BaseModel]:
    """Do a task for every item, whatever JSON it is; the outputs have the given shape.

    Raises InputError if the schema cannot be understood.
    """
    output = output_schema if isinstance(output_schema, type) else build_output_model(output_schema)
    asked: Task[BaseModel] = Task(task, output, [InputField("item", ITEM_CHARS)])
    return await executor.execute_batch(
        asked, [{"item": item} for item in items], packing, on_progress=on_progress
    )
