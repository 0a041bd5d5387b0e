"""What does structured execution add to a model that answers at once?

    python -m benchmarks.execute [--items 2000]

CPU milliseconds an item: packing, prompts, schema, reading and checking the answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from collections.abc import AsyncIterator

from pydantic import BaseModel

from benchmarks.measure import save
from ragforge.domain.chat import (
    AssistantMessage,
    ChatRequest,
    Reply,
    StreamEvent,
    ToolRequest,
    ToolSpec,
    Usage,
)
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import Tool
from ragforge.llm.executor import StructuredLLMExecutor, ToolUse
from ragforge.llm.task import Packing, Task


class Finding(BaseModel):
    """A shape with a little of everything."""

    topic: str
    score: float
    tags: list[str]


OUTPUT = {"topic": "leases", "score": 0.5, "tags": ["a", "b", "c"]}
TASK: Task[Finding] = Task("Say what it is about.", Finding, ["text"])


class InstantModel:
    """Answers every item of a request, without thinking."""

    name = "instant:model"
    calls_tools = True

    async def prepare(self) -> None:
        pass

    async def reply(self, request: ChatRequest) -> Reply:
        said = AssistantMessage(json.dumps(OUTPUT))
        if request.tools and request.tool_choice != "none":
            said = AssistantMessage(tool_requests=(ToolRequest("1", "look", {}),))
        elif ids := re.findall(r"^## id (\d+)$", request.messages[0].text, re.MULTILINE):
            entries = [{"id": int(n), "output": OUTPUT} for n in ids]
            said = AssistantMessage(json.dumps({"entries": entries}))
        return Reply(said, Usage(100, 50, 1, 0.0))

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        yield await self.reply(request)

    async def close(self) -> None:
        pass


async def _look(_: object) -> str:
    return "seen"


LOOK = Tool(ToolSpec("look", "Look.", {"type": "object", "properties": {}}), _look)
WAYS: dict[str, tuple[Packing, ToolUse | None]] = {
    "one by one": (Packing(batch_size=1), None),
    "ten in a request": (Packing(batch_size=10), None),
    "ten, with a round of tools": (Packing(batch_size=10), ToolUse([LOOK], "global")),
    "one by one, with tools": (Packing(), ToolUse([LOOK], "per_item")),
}


async def cpu_ms(items: int, packing: Packing, tools: ToolUse | None) -> float:
    executor = StructuredLLMExecutor(ChatClient(InstantModel()))
    texts = [{"text": f"Item {n}: " + "the lease of a job is renewed " * 10} for n in range(items)]
    await executor.execute_batch(TASK, texts[:20], packing, tools)
    start = time.process_time()
    result = await executor.execute_batch(TASK, texts, packing, tools)
    spent = time.process_time() - start
    assert not result.failed
    return round(spent * 1000 / items, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--items", type=int, default=2_000)
    items = parser.parse_args().items
    results = {}
    for name, (packing, tools) in WAYS.items():
        results[name] = asyncio.run(cpu_ms(items, packing, tools))
        print(f"{name:<30} {results[name]:.3f} CPU ms an item")
    print(f"saved to {save('execute', results)}")


if __name__ == "__main__":
    main()
