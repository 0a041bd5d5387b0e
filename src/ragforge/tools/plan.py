"""plan: the steps of a longer piece of work, which the user can see."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.tools.tool import Arguments, as_tool


class PlanItem(Arguments):
    """One step."""

    text: str = Field(min_length=1, max_length=500, description="What is to be done")
    state: Literal["open", "doing", "done"] = Field("open", description="Its state")


class PlanArguments(Arguments):
    """What plan is called with: all steps, each time."""

    items: list[PlanItem] = Field(min_length=1, max_length=50, description="All steps, in order")

    def to_json(self) -> Json:
        return {"items": [item.model_dump() for item in self.items]}


def make_plan_tool() -> Tool:
    """Return plan for a model."""

    async def call(given: PlanArguments) -> PlanArguments:
        if sum(item.state == "doing" for item in given.items) > 1:
            raise InputError("Only one step can be in the state doing.")
        return given

    return as_tool("plan", PlanArguments, call)
