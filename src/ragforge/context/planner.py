"""Planner: choose the searches for a message by a model; without one, or if it fails, by rules."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import field, replace
from typing import TYPE_CHECKING

from ragforge.context.plan import PlannedSearch, plan_searches
from ragforge.domain.text import shorten
from ragforge.errors import ModelError
from ragforge.records import dataclass
from ragforge.search.words.tokenise import WORDS

if TYPE_CHECKING:
    from ragforge.llm.executor import StructuredLLMExecutor

log = logging.getLogger(__name__)

REASONING_CHARS = 300
REMEMBERED = 200
BY_RULES = "rules"
MAX_FAILURES = 2
REST = 10
"""After so many failures one after the other, the rules choose for so many messages."""
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

    A model that fails again and again is left alone for a while: a small one on a slow machine
    would cost every message its time limit.
    """

    executor: StructuredLLMExecutor | None
    model_name: str
    seconds: float
    _failures: int = 0  # since the model last answered
    _rest: int = 0  # for so many messages the model is not asked
    _known: OrderedDict[frozenset[str], Plan] = field(default_factory=OrderedDict)

    async def plan(self, message: str, surroundings: str = "") -> Plan:
        """Return the searches for a message. Never fails, and keeps the time limit.

        The model also sees a description of the project; the rules need only the message.
        """
        if self.executor is None:
            return Plan(tuple(plan_searches(message)), BY_RULES)
        if self._rest:
            self._rest -= 1
            problem = f"{self.model_name} failed before: it is asked again later"
            return Plan(tuple(plan_searches(message)), BY_RULES, problem)
        words = frozenset(WORDS.query(message))
        if (known := self._find_similar(words)) is not None:
            return replace(known, made_by="an earlier plan")
        from ragforge.context.plan_by_model import ask_for_plan

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
