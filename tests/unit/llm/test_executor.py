"""Structured execution: every item comes back, once, in order, whatever happens."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from ragforge.domain.chat import ChatRequest, ToolSpec
from ragforge.domain.text import Json
from ragforge.errors import (
    BadAnswer,
    InputError,
    ModelBusy,
    ModelUnavailable,
    RequestRefused,
    SpendCapReached,
    ToolsUnsupported,
)
from ragforge.llm.ask import ChatClient, Meter, RetryPolicy
from ragforge.llm.calls import ExecutedCall, Tool
from ragforge.llm.executor import StructuredLLMExecutor, ToolUse, batch_analyze
from ragforge.llm.task import BatchProgress, InputField, Packing, Task
from tests.fakes.scripted_model import ScriptedModel, Step, calls, last_words

IMPATIENT = RetryPolicy(attempts=1)
EAGER = RetryPolicy(attempts=4, first_wait=0.0)


class Doubled(BaseModel):
    """What the tests ask for."""

    value: int = Field(ge=0)


DOUBLE: Task[Doubled] = Task("Double the number.", Doubled, ["number"])


def executor(model: ScriptedModel, patience: RetryPolicy = IMPATIENT) -> StructuredLLMExecutor:
    return StructuredLLMExecutor(ChatClient(model, patience))


def numbers_in(request: ChatRequest) -> dict[int, int]:
    """Return the items that a request asks about: id → number."""
    text = last_words(request)
    if found := re.findall(r"## id (\d+)\n\nnumber: (\d+)", text):
        return {int(index): int(number) for index, number in found}
    [number] = re.findall(r"number: (\d+)", text)
    return {0: int(number)}


def doubling(request: ChatRequest) -> str:
    """Do the task as a good model would."""
    found = numbers_in(request)
    if len(found) == 1:
        [number] = found.values()
        return json.dumps({"value": number * 2})
    entries = [{"id": i, "output": {"value": n * 2}} for i, n in found.items()]
    return json.dumps({"entries": entries})


def items(count: int) -> list[dict[str, int]]:
    return [{"number": n} for n in range(count)]


async def test_one_item_gives_one_output() -> None:
    model = ScriptedModel(doubling)

    outcome = await executor(model).execute(DOUBLE, {"number": 21})

    assert outcome.output == Doubled(value=42)
    assert model.asked[0].schema == Doubled.model_json_schema()
    assert "Double the number." in last_words(model.asked[0])


async def test_many_items_share_requests_and_keep_their_order() -> None:
    model = ScriptedModel(doubling, delay=0.001)
    seen: list[BatchProgress] = []

    result = await executor(model).execute_batch(
        DOUBLE, items(25), Packing(batch_size=10, parallel=2), on_progress=seen.append
    )

    assert [o.value for o in result.outputs if o] == [n * 2 for n in range(25)]
    assert len(model.asked) == 3
    assert model.max_running == 2
    assert seen[-1] == BatchProgress(25, 0, 25)
    assert result.usage.requests == 3


async def test_no_items_make_no_request() -> None:
    model = ScriptedModel([])

    result = await executor(model).execute_batch(DOUBLE, [])

    assert result.outcomes == ()
    assert model.asked == []


async def test_the_token_budget_limits_a_request() -> None:
    model = ScriptedModel(doubling)
    wide: Task[Doubled] = Task("Double.", Doubled, ["number", "padding"])
    padded = [{"number": n, "padding": "x" * 400} for n in range(6)]

    def answer(request: ChatRequest) -> str:
        ids = [int(i) for i in re.findall(r"## id (\d+)", last_words(request))]
        return json.dumps({"entries": [{"id": i, "output": {"value": 2 * i}} for i in ids]})

    model = ScriptedModel(answer)
    result = await executor(model).execute_batch(
        wide, padded, Packing(batch_size=10, token_budget=330)
    )

    assert len(model.asked) == 2
    assert [o.value for o in result.outputs if o] == [0, 2, 4, 6, 8, 10]


async def test_fields_are_transformed_named_and_cut() -> None:
    model = ScriptedModel(['{"value": 1}'])
    task: Task[Doubled] = Task(
        "Count.",
        Doubled,
        [InputField("code", max_length=11, prompt="the source", transform=str.upper), "meta"],
    )

    await executor(model).execute(task, {"code": "abcdefghijklmnop", "meta": {"a": [1]}})

    said = last_words(model.asked[0])
    assert "code (the source): ABCD … MNOP" in said
    assert 'meta: {"a": [1]}' in said


async def test_only_the_item_without_its_field_fails_and_it_is_named() -> None:
    model = ScriptedModel(doubling)

    result = await executor(model).execute_batch(DOUBLE, [{"number": 1}, {"nombre": 2}])

    assert result.outputs == [Doubled(value=2), None]
    assert "no field 'number'" in str(result.outcomes[1].error)


async def test_a_transform_that_fails_costs_its_own_item() -> None:
    task: Task[Doubled] = Task(
        "Double.", Doubled, [InputField("number", transform=lambda n: 1 // n and n)]
    )

    result = await executor(ScriptedModel(doubling)).execute_batch(task, items(2))

    assert isinstance(result.outcomes[0].error, InputError)
    assert result.outcomes[1].output == Doubled(value=2)


@pytest.mark.parametrize(
    "answer",
    ['```json\n{"value": 4}\n```', 'Sure! {"value": 4} I hope it helps.', '{"value": 4}'],
)
async def test_an_answer_wrapped_in_words_is_read(answer: str) -> None:
    outcome = await executor(ScriptedModel([answer])).execute(DOUBLE, {"number": 2})

    assert outcome.output == Doubled(value=4)


async def test_a_bad_answer_goes_back_with_what_is_wrong() -> None:
    model = ScriptedModel(["no json here", '{"value": -4}', '{"value": 4}'])

    outcome = await executor(model).execute(DOUBLE, {"number": 2})

    assert outcome.output == Doubled(value=4)
    assert "not JSON" in last_words(model.asked[1])
    assert "greater than or equal to 0" in last_words(model.asked[2])


async def test_repairs_are_bounded() -> None:
    model = ScriptedModel(lambda _: "nonsense")

    with pytest.raises(BadAnswer, match="after 2 repairs"):
        await executor(model).execute(DOUBLE, {"number": 2})

    assert len(model.asked) == 3


async def test_only_what_is_wrong_is_asked_again() -> None:
    first = {"entries": [{"id": 0, "output": {"value": 0}}, {"id": 2, "output": {"value": "x"}}]}
    second = {"entries": [{"id": 1, "output": {"value": 2}}, {"id": 2, "output": {"value": 4}}]}
    model = ScriptedModel([json.dumps(first), json.dumps(second)])

    result = await executor(model).execute_batch(DOUBLE, items(3))

    assert [o.value for o in result.outputs if o] == [0, 2, 4]
    assert "only for the ids 1, 2" in last_words(model.asked[1])


async def test_only_the_item_that_never_fits_fails() -> None:
    def stubborn(request: ChatRequest) -> str:
        entries = [{"id": 0, "output": {"value": 0}}, {"id": 1, "output": {"value": -1}}]
        return json.dumps({"entries": entries})

    result = await executor(ScriptedModel(stubborn)).execute_batch(DOUBLE, items(2))

    assert result.outputs == [Doubled(value=0), None]
    assert isinstance(result.outcomes[1].error, BadAnswer)


async def test_only_the_item_that_the_provider_refuses_fails() -> None:
    def squeamish(request: ChatRequest) -> Step:
        if 13 in numbers_in(request).values():
            return RequestRefused("not that one")
        return doubling(request)

    result = await executor(ScriptedModel(squeamish)).execute_batch(
        DOUBLE, items(20), Packing(batch_size=20)
    )

    assert [o.index for o in result.failed] == [13]
    assert isinstance(result.failed[0].error, RequestRefused)
    assert sum(o is not None for o in result.outputs) == 19


async def test_only_the_item_that_spoils_the_whole_answer_fails() -> None:
    def distracted(request: ChatRequest) -> str:
        spoilt = any("number: 3" in m.text for m in request.messages if hasattr(m, "text"))
        return "I would rather talk about something else." if spoilt else doubling(request)

    result = await executor(ScriptedModel(distracted)).execute_batch(
        DOUBLE, items(8), Packing(batch_size=8)
    )

    assert [o.index for o in result.failed] == [3]


async def test_a_busy_provider_is_asked_again() -> None:
    model = ScriptedModel([ModelBusy("later", 0.0), ModelUnavailable("oops"), '{"value": 2}'])

    outcome = await executor(model, EAGER).execute(DOUBLE, {"number": 1})

    assert outcome.output == Doubled(value=2)
    assert len(model.asked) == 3


async def test_a_provider_that_is_down_costs_its_batch_and_no_other() -> None:
    def half_down(request: ChatRequest) -> Step:
        if 5 in numbers_in(request).values():
            return ModelUnavailable("down")
        return doubling(request)

    result = await executor(ScriptedModel(half_down)).execute_batch(
        DOUBLE, items(12), Packing(batch_size=4)
    )

    assert [o.index for o in result.failed] == [4, 5, 6, 7]
    assert sum(o is not None for o in result.outputs) == 8


async def test_the_spend_cap_stops_further_requests() -> None:
    model = ScriptedModel(doubling, usd=0.04)
    capped = StructuredLLMExecutor(ChatClient(model, IMPATIENT, Meter(cap_usd=0.10)))

    result = await capped.execute_batch(DOUBLE, items(6), Packing(batch_size=1, parallel=1))

    assert len(model.asked) == 3
    assert {type(o.error) for o in result.failed} == {SpendCapReached}
    assert "llm.max_spend_usd" in str(result.failed[0].error)
    assert result.usage.usd == pytest.approx(0.12)


async def test_cancelling_stops_everything() -> None:
    model = ScriptedModel(doubling, delay=60)
    working = asyncio.create_task(
        executor(model).execute_batch(DOUBLE, items(9), Packing(batch_size=1, parallel=3))
    )
    while model.running < 3:  # noqa: ASYNC110 - the fake has no event for it
        await asyncio.sleep(0)

    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working

    assert model.running == 0


def test_packing_must_make_sense() -> None:
    with pytest.raises(InputError, match="batch_size is 0"):
        Packing(batch_size=0)


FAILURES = st.sampled_from(["fine", "busy", "down", "garbage", "partial", "refused"])


@given(
    count=st.integers(0, 40),
    batch_size=st.integers(1, 12),
    parallel=st.integers(1, 6),
    budget=st.integers(1, 60),
    pattern=st.lists(FAILURES, max_size=30),
)
def test_any_packing_and_any_failures_return_each_item_once_in_order(
    count: int, batch_size: int, parallel: int, budget: int, pattern: list[str]
) -> None:
    steps = iter(pattern)

    def moody(request: ChatRequest) -> Step:
        match next(steps, "fine"):
            case "busy":
                return ModelBusy("later", 0.0)
            case "down":
                return ModelUnavailable("down")
            case "garbage":
                return "garbage"
            case "refused":
                return RequestRefused("no")
            case "partial":
                return json.dumps({"entries": []})
        ids = {int(i) for i in re.findall(r"\bid (\d+)", last_words(request))}
        numbers = {int(i) for i in re.findall(r"number: (\d+)", request.messages[0].text)}
        ids = ids or numbers
        if len(ids) == 1:
            return json.dumps({"value": 2 * ids.pop()})
        return json.dumps({"entries": [{"id": i, "output": {"value": 2 * i}} for i in ids]})

    result = asyncio.run(
        executor(ScriptedModel(moody), RetryPolicy(attempts=2, first_wait=0.0)).execute_batch(
            DOUBLE, items(count), Packing(batch_size, parallel, budget)
        )
    )

    assert [o.index for o in result.outcomes] == list(range(count))
    for outcome in result.outcomes:
        assert (outcome.output is None) == (outcome.error is not None)
        assert outcome.output is None or outcome.output.value == 2 * outcome.index


# Tools


def tool(name: str, run: Callable[[Mapping[str, Json]], Json], modifies: bool = False) -> Tool:
    async def call(arguments: Mapping[str, Json]) -> Json:
        await asyncio.sleep(0.001)
        return run(arguments)

    return Tool(ToolSpec(name, f"{name}.", {"type": "object"}), call, modifies)


ADD = tool("add", lambda args: args["a"] + args["b"])


async def test_every_executed_call_is_returned_with_its_account() -> None:
    def broken(_: Mapping[str, Json]) -> Json:
        raise OSError("no such file")

    model = ScriptedModel(
        [
            calls(("add", {"a": 1, "b": 2}), ("broken", {}), ("nothing", {}), ("add", "x")),  # type: ignore[arg-type]
            '{"value": 3}',
        ]
    )
    seen: list[ExecutedCall] = []
    use = ToolUse([ADD, tool("broken", broken)], "per_item")

    outcome = (
        await executor(model).execute_batch(DOUBLE, items(1), tools=use, on_call=seen.append)
    ).outcomes[0]

    assert outcome.output == Doubled(value=3)
    assert [(c.name, c.success, c.iteration) for c in outcome.calls] == [
        ("add", True, 1),
        ("broken", False, 1),
        ("nothing", False, 1),
        ("add", False, 1),
    ]
    assert outcome.calls[0].arguments == {"a": 1, "b": 2}
    assert outcome.calls[0].result == 3
    assert outcome.calls[1].error == "OSError: no such file"
    assert "There are: add, broken" in str(outcome.calls[2].error)
    assert all(call.duration_ms >= 0 for call in outcome.calls)
    assert sorted(c.name for c in seen) == ["add", "add", "broken", "nothing"]
    results = [m.text for m in model.asked[1].messages if m.__class__.__name__ == "ToolMessage"]
    assert results[0] == "3"
    assert results[1] == "Error: OSError: no such file"


async def test_independent_calls_run_together_and_writers_in_order() -> None:
    running: list[str] = []
    log: list[str] = []

    def watched(name: str, modifies: bool) -> Tool:
        async def call(_: Mapping[str, Json]) -> Json:
            running.append(name)
            log.append(f"{name} with {len(running)}")
            await asyncio.sleep(0.01)
            running.remove(name)
            return name

        return Tool(ToolSpec(name, name, {"type": "object"}), call, modifies)

    tools = [watched("read", False), watched("write", True)]
    wanted = calls(*[(n, {}) for n in ("read", "read", "write", "write", "read")])
    model = ScriptedModel([wanted, '{"value": 1}'])

    result = await executor(model).execute_batch(DOUBLE, items(1), tools=ToolUse(tools, "per_item"))

    assert log == ["read with 1", "read with 2", "write with 1", "write with 1", "read with 1"]
    assert [c.name for c in result.calls] == ["read", "read", "write", "write", "read"]


async def test_rounds_per_item_are_bounded_and_end_with_an_answer() -> None:
    model = ScriptedModel(
        lambda request: (
            '{"value": 9}' if request.tool_choice == "none" else calls(("add", {"a": 1, "b": 1}))
        )
    )
    use = ToolUse([ADD], "per_item", max_iterations_per_item=3)

    result = await executor(model).execute_batch(DOUBLE, items(2), tools=use)

    assert [o.value for o in result.outputs if o] == [9, 9]
    assert [c.iteration for c in result.outcomes[0].calls] == [1, 2, 3]
    assert len(result.calls) == 6


async def test_one_round_serves_a_whole_batch_in_the_global_mode() -> None:
    def answer(request: ChatRequest) -> Step:
        if request.tool_choice != "none":
            return calls(("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 2}))
        entries = [{"id": n, "output": {"value": n}} for n in range(3)]
        return json.dumps({"entries": entries})

    model = ScriptedModel(answer)

    result = await executor(model).execute_batch(DOUBLE, items(3), tools=ToolUse([ADD]))

    assert len(model.asked) == 2
    assert [c.result for c in result.calls] == [2, 4]
    assert result.outcomes[2].calls == result.calls


async def test_without_an_output_the_calls_are_all_that_is_wanted() -> None:
    model = ScriptedModel([calls(("add", {"a": 1, "b": 2}))])
    plan: Task[Doubled] = Task("Search.", None, ["number"])

    result = await executor(model).execute_batch(
        plan, items(1), tools=ToolUse([ADD], choice="required")
    )

    assert len(model.asked) == 1
    assert model.asked[0].tool_choice == "required"
    assert [c.result for c in result.calls] == [3]
    assert result.failed == []


async def test_a_task_without_output_and_tools_is_a_mistake() -> None:
    with pytest.raises(InputError, match="needs tools"):
        await executor(ScriptedModel([])).execute_batch(Task("x", None, []), items(1))


@pytest.mark.parametrize("knows", [True, False], ids=["found out", "known"])
async def test_a_model_without_tools_is_asked_through_the_schema(knows: bool) -> None:
    def answer(request: ChatRequest) -> Step:
        if request.tools:
            return ToolsUnsupported("no tools here")
        if "# Results" in last_words(request):
            assert "## add\n\n3" in last_words(request)
            return json.dumps({"tool_calls": [], "answer": {"value": 3}})
        assert "You can call tools" in request.system
        assert request.schema is not None
        call = {"name": "add", "arguments": {"a": 1, "b": 2}}
        return json.dumps({"tool_calls": [call], "answer": None})

    model = ScriptedModel(answer, calls_tools=knows)

    result = await executor(model).execute_batch(DOUBLE, items(1), tools=ToolUse([ADD], "per_item"))

    assert result.outputs == [Doubled(value=3)]
    assert [(c.name, c.result) for c in result.calls] == [("add", 3)]


async def test_calls_that_were_made_are_returned_when_the_model_dies_afterwards() -> None:
    model = ScriptedModel([calls(("add", {"a": 1, "b": 2})), ModelUnavailable("gone")])

    result = await executor(model).execute_batch(DOUBLE, items(1), tools=ToolUse([ADD], "per_item"))

    assert [c.result for c in result.calls] == [3]
    assert isinstance(result.outcomes[0].error, ModelUnavailable)


async def test_batch_analyze_takes_any_json_and_a_plain_schema() -> None:
    def answer(request: ChatRequest) -> str:
        output = {"main_topic": "leases", "findings": ["a", "b"], "mood": "good"}
        return json.dumps({"entries": [{"id": 0, "output": output}, {"id": 1, "output": output}]})

    result = await batch_analyze(
        executor(ScriptedModel(answer)),
        ["a conversation", {"title": "another"}],
        "What is it about?",
        {
            "main_topic": {"type": "string", "description": "in one word"},
            "findings": {"type": "array", "items": {"type": "string"}},
            "mood": {"enum": ["good", "bad"]},
            "score": {"type": "number", "required": False},
        },
    )

    assert result.failed == []
    dumped = [output.model_dump() for output in result.outputs if output]
    assert dumped[0] == {
        "main_topic": "leases",
        "findings": ["a", "b"],
        "mood": "good",
        "score": None,
    }


@pytest.mark.parametrize(
    ("schema", "named"),
    [({}, "names no field"), ({"a": "string"}, "'a'"), ({"a b": {}}, "'a b'")],
)
async def test_batch_analyze_names_what_is_wrong_with_a_schema(
    schema: dict[str, Json], named: str
) -> None:
    with pytest.raises(InputError, match=named):
        await batch_analyze(executor(ScriptedModel([])), [1], "x", schema)
