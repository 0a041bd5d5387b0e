"""Who chooses the searches of the files: the model, or rules if it does not help."""

from __future__ import annotations

import json

from ragforge.context.planner import BY_RULES, REST, Planner
from ragforge.llm.ask import ChatClient
from ragforge.llm.executor import StructuredLLMExecutor
from tests.fakes.scripted_model import ScriptedModel

NOUNS = ("login", "cart", "price", "invoice", "customer", "parser")


async def test_a_model_that_fails_again_and_again_is_left_alone_for_a_while() -> None:
    model = ScriptedModel(lambda request: "I would rather not.")
    planner = Planner(StructuredLLMExecutor(ChatClient(model)), model.name, 5.0)

    plans = [await planner.plan(f"Where is the {noun} tested?") for noun in NOUNS]

    assert [plan.instead_of for plan in plans] == [model.name] * 2 + [""] * 4
    assert {plan.made_by for plan in plans} == {BY_RULES}
    assert "failed before" in plans[2].problem
    asked = len(model.asked)
    for number in range(REST - 4):
        await planner.plan(f"Where is number {number}?")
    assert len(model.asked) == asked
    assert (await planner.plan("Where is the cookie?")).instead_of == model.name


async def test_the_model_is_told_how_many_searches_are_run_and_more_are_left_out() -> None:
    calls = [{"tool": "grep_files", "regex": noun} for noun in NOUNS]
    model = ScriptedModel(lambda request: json.dumps({"calls": calls}))
    planner = Planner(StructuredLLMExecutor(ChatClient(model)), model.name, 60.0)

    plan = await planner.plan("Where is the login tested?")

    assert [call.arguments["regex"] for call in plan.calls] == list(NOUNS[:3])
    [asked] = model.asked
    assert "'maxItems': 3" in str(asked)
