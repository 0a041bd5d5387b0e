"""Planner: a model picks the searches for a message; without one, or if it fails, rules do."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field

from ragforge.context.plan import EVERYWHERE, MOST_CALLS, Planned, ToolName, planned
from ragforge.errors import ModelError
from ragforge.llm.executor import StructuredLLMExecutor
from ragforge.llm.prompts import prompt
from ragforge.llm.task import InputField, Task
from ragforge.search.tokenise import WORDS

MESSAGE_CHARS = 4_000
REMEMBERED = 200
BY_RULES = "rules"
SIMILAR = 0.8
"""How many of the words of two messages must be the same for one to reuse the other's plan."""


class _Call(BaseModel):
    tool: ToolName
    pattern: str = Field(default=EVERYWHERE, max_length=500)
    regex: str = Field(default="", max_length=2_000)
    query: str = Field(default="", max_length=500)
    command: str = Field(default="", max_length=2_000)


class _Plan(BaseModel):
    calls: list[_Call] = Field(max_length=20)


@dataclass(frozen=True, slots=True)
class Plan:
    """The searches that were chosen, who chose them, and why not somebody else."""

    calls: tuple[Planned, ...]
    made_by: str
    problem: str = ""
    instead_of: str = ""  # a model that failed


@dataclass(slots=True)
class Planner:
    """Chooses searches: by a model within its time, or by rules."""

    executor: StructuredLLMExecutor | None
    model_name: str
    seconds: float
    _known: OrderedDict[frozenset[str], tuple[Planned, ...]] = field(default_factory=OrderedDict)

    async def plan(self, message: str) -> Plan:
        """Return the searches for a message. It never fails and is never later than its time."""
        if self.executor is None:
            return Plan(tuple(planned(message)), BY_RULES)
        words = frozenset(WORDS.query(message))
        if (known := self._similar(words)) is not None:
            return Plan(known, "an earlier plan")
        try:
            async with asyncio.timeout(self.seconds):
                calls = await _ask(self.executor, message)
        except TimeoutError:
            return self._failed(message, f"took longer than {self.seconds:g} s")
        except ModelError as error:
            return self._failed(message, str(error))
        if not calls:
            return Plan(tuple(planned(message)), BY_RULES, f"{self.model_name} chose nothing")
        self._known[words] = calls
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return Plan(calls, self.model_name)

    def _failed(self, message: str, problem: str) -> Plan:
        told = f"{problem}; rules chose instead"
        return Plan(tuple(planned(message)), BY_RULES, told, self.model_name)

    def _similar(self, words: frozenset[str]) -> tuple[Planned, ...] | None:
        """Return the plan of an earlier message with nearly the same words."""
        for known, calls in reversed(self._known.items()):
            if words and len(words & known) >= SIMILAR * len(words | known):
                return calls
        return None


async def _ask(executor: StructuredLLMExecutor, message: str) -> tuple[Planned, ...]:
    instruction = prompt("ragforge.context.prompts", "plan")
    task = Task(instruction, _Plan, [InputField("question", MESSAGE_CHARS)])
    outcome = await executor.execute(task, {"question": message})
    assert outcome.output is not None
    calls: list[Planned] = []
    for call in outcome.output.calls:
        if (arguments := _arguments(call)) is not None:
            wanted = Planned(call.tool, arguments)
            if wanted not in calls:
                calls.append(wanted)
    return tuple(calls[:MOST_CALLS])


def _arguments(call: _Call) -> dict[str, Any] | None:
    """Return what the tool takes, or None if the model left out what it needs."""
    if call.tool == "run_command":
        return {"command": call.command} if call.command.strip() else None
    if call.tool == "grep_files":
        return {"pattern": call.pattern, "regex": call.regex} if call.regex else None
    return {"pattern": call.pattern, "query": call.query} if call.query.strip() else None
