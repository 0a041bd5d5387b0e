"""Planner: choose the searches for a message by a model; without one, or if it fails, by rules."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from ragforge.context.plan import (
    EVERYWHERE,
    MAX_CALLS,
    PlannedSearch,
    ToolName,
    plan_searches,
)
from ragforge.domain.text import shorten
from ragforge.errors import ModelError
from ragforge.llm.prompts import load_prompt
from ragforge.records import dataclass
from ragforge.search.words.tokenise import WORDS

if TYPE_CHECKING:
    from ragforge.llm.executor import StructuredLLMExecutor

log = logging.getLogger(__name__)

MESSAGE_CHARS = 4_000
MAX_RESULTS = 1_000
MIN_THRESHOLD = 0.3
REASONING_CHARS = 300
REMEMBERED = 200
BY_RULES = "rules"
MAX_FAILURES = 2
REST = 10
"""After MAX_FAILURES failures in a row, the rules choose for this number of messages."""
SIMILAR = 0.8
"""The share of common words at which a message reuses the plan of an earlier one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The searches that were chosen, by whom and why."""

    calls: tuple[PlannedSearch, ...]
    made_by: str
    problem: str = ""
    instead_of: str = ""  # the model that failed
    reasoning: str = ""  # of the model; with rules, each search has its own


@dataclass(slots=True)
class Planner:
    """Chooses searches by a model within a time limit, or by rules.

    A model that keeps failing is not asked for a while: it would cost every message its time limit.
    """

    executor: StructuredLLMExecutor | None
    model_name: str
    seconds: float
    _failures: int = 0  # since the model last answered
    _rest: int = 0  # messages left for which the model is not asked
    _known: OrderedDict[frozenset[str], Plan] = field(default_factory=OrderedDict)

    async def plan(self, message: str, surroundings: str = "") -> Plan:
        """Return the searches for a message, within the time limit; it never fails."""
        if self.executor is None:
            return Plan(tuple(plan_searches(message)), BY_RULES)
        if self._rest:
            self._rest -= 1
            problem = f"{self.model_name} failed before: it is asked again later"
            return Plan(tuple(plan_searches(message)), BY_RULES, problem)
        words = frozenset(WORDS.query(message))
        if (known := self._find_similar(words)) is not None:
            return replace(known, made_by="an earlier plan")
        try:
            async with asyncio.timeout(self.seconds):
                calls, reasoning = await ask_for_plan(self.executor, message, surroundings)
        except TimeoutError:
            return self._fall_back(message, f"took longer than {self.seconds:g} s")
        except ModelError as error:
            return self._fall_back(message, str(error))
        self._failures = 0
        if not calls:
            return Plan(tuple(plan_searches(message)), BY_RULES, f"{self.model_name} chose nothing")
        why = shorten(" ".join(reasoning.split()), REASONING_CHARS)
        self._known[words] = plan = Plan(calls, self.model_name, reasoning=why)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return plan

    def _fall_back(self, message: str, problem: str) -> Plan:
        log.warning("Choosing searches by %s failed: %s", self.model_name, problem)
        problem = f"{problem}; rules chose instead"
        self._failures += 1
        if self._failures >= MAX_FAILURES:
            self._failures, self._rest = 0, REST
        return Plan(tuple(plan_searches(message)), BY_RULES, problem, self.model_name)

    def _find_similar(self, words: frozenset[str]) -> Plan | None:
        """Return the plan of an earlier message with nearly the same words."""
        for known, plan in reversed(self._known.items()):
            if words and len(words & known) >= SIMILAR * len(words | known):
                return plan
        return None


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
    from ragforge.llm.task import InputField, Task  # most messages are planned by rules

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
    """Return the tool's arguments within their bounds; None if a required one is missing."""
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
