"""Plan by model: a chat model chooses the searches for a message."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from ragforge.context.plan import EVERYWHERE, MAX_CALLS, PlannedSearch, ToolName
from ragforge.llm.executor import StructuredLLMExecutor
from ragforge.llm.prompts import load_prompt
from ragforge.llm.task import InputField, Task

MESSAGE_CHARS = 4_000
MAX_RESULTS = 1_000
MIN_THRESHOLD = 0.3


class _Call(BaseModel):
    tool: ToolName
    pattern: str = Field(default=EVERYWHERE, max_length=500)
    regex: str = Field(default="", max_length=2_000)
    query: str = Field(default="", max_length=500)
    command: str = Field(default="", max_length=2_000)
    cwd: str | None = Field(default=None, max_length=500)
    ignore_case: bool = False
    threshold: float | None = None
    max_results: int | None = None


class _Plan(BaseModel):
    reasoning: str = ""
    # A model that chooses more is not asked again: the first ones are run.
    calls: list[_Call] = Field(json_schema_extra={"maxItems": MAX_CALLS})


async def ask_for_plan(
    executor: StructuredLLMExecutor, message: str, surroundings: str
) -> tuple[tuple[PlannedSearch, ...], str]:
    """Return the searches that a model chooses for a message, and its reasoning.

    Raises ModelError.
    """
    instruction = load_prompt("ragforge.context.prompts", "plan")
    shown = [InputField("project"), InputField("question", MESSAGE_CHARS)]
    item = {"project": f"\n{surroundings}\n", "question": message}
    outcome = await executor.execute(Task(instruction, _Plan, shown), item)
    assert outcome.output is not None
    return _pick_calls(outcome.output), outcome.output.reasoning


def _pick_calls(plan: _Plan) -> tuple[PlannedSearch, ...]:
    """Return the first searches that can be run, each once."""
    calls: list[PlannedSearch] = []
    for call in plan.calls:
        if len(calls) == MAX_CALLS:
            break
        if (arguments := _build_arguments(call)) is not None:
            wanted = PlannedSearch(call.tool, arguments)
            if wanted not in calls:
                calls.append(wanted)
    return tuple(calls)


def _build_arguments(call: _Call) -> dict[str, Any] | None:
    """Return the tool's arguments, or None if the model left out a necessary one.

    Numbers are brought into their bounds: a second request would cost more than it helps.
    """
    given: dict[str, Any] = {"pattern": call.pattern}
    if call.max_results is not None:
        given["max_results"] = min(max(call.max_results, 1), MAX_RESULTS)
    if call.tool == "run_command":
        where = {"cwd": call.cwd} if call.cwd else {}
        return {"command": call.command, **where} if call.command.strip() else None
    if call.tool == "grep_files":
        case = {"ignore_case": True} if call.ignore_case else {}
        return {**given, "regex": call.regex, **case} if call.regex else None
    if call.threshold is not None:
        given["threshold"] = min(max(call.threshold, MIN_THRESHOLD), 1.0)
    return {**given, "query": call.query} if call.query.strip() else None
