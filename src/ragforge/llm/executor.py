"""Structured execution: the same task for many items, with outputs that follow a schema."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Generic, Literal, Optional, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, create_model

from ragforge.domain.chat import ChatRequest, ToolChoice, UserMessage
from ragforge.domain.text import Json
from ragforge.errors import BadAnswer, InputError, ModelError, RagForgeError, RequestRefused
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import ExecutedCall, OnCall, Tool
from ragforge.llm.loop import ToolLoop
from ragforge.llm.prompts import load_prompt
from ragforge.llm.task import (
    BatchProgress,
    BatchResult,
    InputField,
    Item,
    OnProgress,
    Outcome,
    Output,
    Packing,
    Rendered,
    Task,
    build_answer_schema,
    pack,
    read_answer,
)
from ragforge.records import dataclass

ToolMode: TypeAlias = Literal["global", "per_item"]
_PROMPTS = "ragforge.llm.prompts"
ITEM_CHARS = 20_000

_SIMPLE: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool}


@dataclass(frozen=True, slots=True)
class ToolUse:
    """Which tools a task may use, and how: one round for a whole batch, or rounds per item."""

    tools: Sequence[Tool]
    mode: ToolMode = "global"
    max_iterations_per_item: int = 5
    choice: ToolChoice = "auto"

    @property
    def rounds(self) -> int:
        return 1 if self.mode == "global" else self.max_iterations_per_item


@dataclass(slots=True)
class _Batch(Generic[Output]):
    """Items of one request, with their outputs and errors so far."""

    items: list[Rendered]
    outputs: dict[int, Output] = field(default_factory=dict)
    errors: dict[int, RagForgeError] = field(default_factory=dict)
    calls: list[ExecutedCall] = field(default_factory=list)

    def outcomes(self) -> list[Outcome[Output]]:
        calls = tuple(self.calls)
        return [
            Outcome(i.index, self.outputs.get(i.index), self.errors.get(i.index), calls)
            for i in self.items
        ]

    def fail_the_rest(self, error: RagForgeError) -> None:
        for item in self.items:
            if item.index not in self.outputs:
                self.errors.setdefault(item.index, error)

    @property
    def may_be_split(self) -> bool:
        """Whether all items failed, perhaps because of one of them."""
        causes = (RequestRefused, BadAnswer)
        spoilt = all(isinstance(error, causes) for error in self.errors.values())
        return len(self.items) == len(self.errors) > 1 and spoilt and not self.calls


class StructuredLLMExecutor:
    """Runs tasks over any chat model."""

    def __init__(self, asker: ChatClient, repairs: int = 2) -> None:
        self._asker = asker
        self._repairs = repairs
        self._native = asker.model.calls_tools

    async def execute(
        self, task: Task[Output], item: Item, tools: ToolUse | None = None
    ) -> Outcome[Output]:
        """Do a task for one item. Raises ModelError, or InputError if the item is unfit."""
        result = await self.execute_batch(task, [item], tools=tools)
        [outcome] = result.outcomes
        if outcome.error is not None:
            raise outcome.error
        return outcome

    async def execute_batch(
        self,
        task: Task[Output],
        items: Sequence[Item],
        packing: Packing | None = None,
        tools: ToolUse | None = None,
        on_progress: OnProgress | None = None,
        on_call: OnCall | None = None,
    ) -> BatchResult[Output]:
        """Do a task for every item; the outcome of an item that fails is its error.

        Raises InputError if the task itself makes no sense.
        """
        if task.output is None and tools is None:
            raise InputError("A task without an output needs tools, or it does nothing.")
        packing = packing or Packing()
        if tools is not None and tools.mode == "per_item":
            packing = replace(packing, batch_size=1)
        before = self._asker.meter.total
        fit, found = _render_items(task, items)

        def report() -> None:
            if on_progress is not None and found:
                failed = sum(outcome.error is not None for outcome in found.values())
                on_progress(BatchProgress(len(found), failed, len(items)))

        report()
        calls: dict[int, list[ExecutedCall]] = {}
        gate = asyncio.Semaphore(packing.parallel)

        async def work(items: list[Rendered]) -> None:
            async with gate:
                for batch in await self._run_batch(task, items, tools, on_call):
                    found.update({outcome.index: outcome for outcome in batch.outcomes()})
                    calls[batch.items[0].index] = batch.calls
                    report()

        async with asyncio.TaskGroup() as group:
            for batch in pack(fit, packing):
                group.create_task(work(batch))
        return BatchResult(
            outcomes=tuple(found[index] for index in range(len(items))),
            calls=tuple(call for first in sorted(calls) for call in calls[first]),
            usage=self._asker.meter.total - before,
        )

    async def _run_batch(
        self,
        task: Task[Output],
        items: list[Rendered],
        tools: ToolUse | None,
        on_call: OnCall | None,
    ) -> list[_Batch[Output]]:
        """Do the task for these items; if none succeeds, for each half of them."""
        batch: _Batch[Output] = _Batch(items)
        try:
            await self._run(task, batch, tools, on_call)
        except ModelError as error:
            batch.fail_the_rest(error)
        if not batch.may_be_split:
            return [batch]
        half = len(items) // 2
        first = await self._run_batch(task, items[:half], tools, on_call)
        return first + await self._run_batch(task, items[half:], tools, on_call)

    async def _run(
        self,
        task: Task[Output],
        batch: _Batch[Output],
        tools: ToolUse | None,
        on_call: OnCall | None,
    ) -> None:
        request = _build_request(task, batch.items)
        if tools is None:
            request, text = await self._answer(request)
        else:
            loop = ToolLoop(
                self._asker.ask,
                tools.tools,
                tools.rounds,
                on_call,
                native=self._native,
                calls=batch.calls,
            )
            request = replace(request, tool_choice=tools.choice)
            request, text = await loop.run(request, answer=task.output is not None)
            self._native = loop.native
        if task.output is not None:
            await self._read(task.output, batch, request, text)

    async def _answer(self, request: ChatRequest) -> tuple[ChatRequest, str]:
        try:
            said = (await self._asker.ask(request)).message
        except BadAnswer:
            return request, ""  # repaired like any other answer that cannot be read
        return replace(request, messages=(*request.messages, said)), said.text

    async def _read(
        self, output: type[Output], batch: _Batch[Output], request: ChatRequest, text: str
    ) -> None:
        """Read the answer; where it does not fit, ask the model to repair it, a few times."""
        wanted = batch.items
        for repairs_left in range(self._repairs, -1, -1):
            found = read_answer(text, output, wanted)
            batch.outputs.update(found.outputs)
            wanted = [item for item in wanted if item.index in found.problems]
            if not wanted:
                return
            if repairs_left:
                request = _repair(request, output, wanted, found.problems)
                request, text = await self._answer(request)
        for index, problem in found.problems.items():
            batch.errors[index] = BadAnswer(
                f"The model's answer does not fit, after {self._repairs} repairs: {problem}"
            )


def _render_items(
    task: Task[Output], items: Sequence[Item]
) -> tuple[list[Rendered], dict[int, Outcome[Output]]]:
    """Return the items that can be rendered, and the outcomes of the others."""
    fit: list[Rendered] = []
    unfit: dict[int, Outcome[Output]] = {}
    for index, item in enumerate(items):
        try:
            fit.append(Rendered(index, task.render(item)))
        except InputError as error:
            unfit[index] = Outcome(index, error=error)
        except Exception as error:  # a transform is the caller's: it may fail in any way
            problem = InputError(f"The item cannot be read: {type(error).__name__}: {error}")
            unfit[index] = Outcome(index, error=problem)
    return fit, unfit


def _build_request(task: Task[Output], items: Sequence[Rendered]) -> ChatRequest:
    if len(items) == 1:
        text = load_prompt(_PROMPTS, "one", task=task.instruction, items=items[0].text)
    else:
        listed = "\n\n".join(f"## id {item.index}\n\n{item.text}" for item in items)
        text = load_prompt(
            _PROMPTS, "many", task=task.instruction, items=listed, count=str(len(items))
        )
    return ChatRequest(
        messages=(UserMessage(text),),
        system=task.system,
        schema=None if task.output is None else build_answer_schema(task.output, len(items)),
        max_tokens=task.max_tokens,
        temperature=task.temperature,
    )


def _repair(
    request: ChatRequest,
    output: type[Output],
    wanted: Sequence[Rendered],
    problems: Mapping[int, str],
) -> ChatRequest:
    lines = [f"- id {item.index}: {problems[item.index]}" for item in wanted]
    ids = ", ".join(str(item.index) for item in wanted)
    scope = f", only for id {ids}" if len(wanted) == 1 else f", only for the ids {ids}"
    said = load_prompt(_PROMPTS, "repair", problems="\n".join(lines), scope=scope)
    return replace(
        request,
        messages=(*request.messages, UserMessage(said)),
        schema=build_answer_schema(output, len(wanted)),
    )


async def batch_analyze(
    executor: StructuredLLMExecutor,
    items: Sequence[Json],
    task: str,
    output_schema: type[BaseModel] | Mapping[str, Any],
    packing: Packing | None = None,
    on_progress: OnProgress | None = None,
) -> BatchResult[BaseModel]:
    """Do a task for every item, which may be any JSON; the outputs follow a schema.

    Raises InputError if the schema cannot be understood.
    """
    output = output_schema if isinstance(output_schema, type) else build_output_model(output_schema)
    asked: Task[BaseModel] = Task(task, output, [InputField("item", ITEM_CHARS)])
    return await executor.execute_batch(
        asked, [{"item": item} for item in items], packing, on_progress=on_progress
    )


def build_output_model(schema: Mapping[str, Any], name: str = "Output") -> type[BaseModel]:
    """Return the model of an object schema, or of a plain map from fields to their schemas.

    Raises InputError that names what cannot be understood.
    """
    if schema.get("type") == "object" and isinstance(schema.get("properties"), Mapping):
        properties, required = schema["properties"], schema.get("required", ())
    else:  # the short form: every field is wanted unless it says otherwise
        properties = schema
        required = [
            key
            for key, one in schema.items()
            if not isinstance(one, Mapping) or one.get("required") is not False
        ]
    if not properties:
        raise InputError("The output schema names no field.")
    fields: dict[str, Any] = {}
    for key, one in properties.items():
        if not isinstance(key, str) or not key.isidentifier() or key.startswith("_"):
            raise InputError(f"{key!r} cannot be the name of an output field.")
        kind = _type_of(one, key)
        described = one.get("description") if isinstance(one, Mapping) else None
        if key in required:
            fields[key] = (kind, Field(description=described))
        else:
            fields[key] = (Optional[kind], Field(default=None, description=described))  # noqa: UP045
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _type_of(field: object, key: str) -> Any:
    if not isinstance(field, Mapping):
        raise InputError(f"The schema of {key!r} is not an object such as {{'type': 'string'}}.")
    if choices := field.get("enum"):
        return Literal[tuple(choices)]
    kind = field.get("type", "string")
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind == "array":
        items = field.get("items")
        return list[Any] if items is None else list[_type_of(items, f"{key}[]")]  # type: ignore[misc]
    if kind == "object":
        nested = field.get("properties")
        return build_output_model(field, key.title()) if nested else dict[str, Any]
    raise InputError(f"{key!r} has the unknown type {kind!r}.")
