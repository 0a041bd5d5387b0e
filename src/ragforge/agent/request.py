"""Request: what a model is sent in a turn, until its answer fits the schema, if there is one."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from ragforge.context.replay import replay_messages
from ragforge.domain.chat import ChatRequest, Image, JsonSchema, ToolSpec, UserMessage, WindowShares
from ragforge.domain.conversations import Message
from ragforge.domain.modes import Mode
from ragforge.domain.text import Json
from ragforge.errors import BadAnswer
from ragforge.llm.by_schema import simplify_schema
from ragforge.llm.calls import Tool
from ragforge.llm.loop import Ask, OnRound, Round
from ragforge.llm.prompts import load_prompt
from ragforge.llm.task import read_json

MAX_REPAIRS = 2
MAX_PROBLEMS = 10
"""How many problems of one answer the model is told."""
CONTINUE = "The answer broke off here. Continue from this point and do not repeat anything."

FIRST = (
    "read_file",
    "edit_file",
    "run_command",
    "write_file",
    "search_code",
    "grep_files",
    "list_files",
    "search_memory",
    "search_files",
)
"""The most useful ones first; the others follow in their own order."""


def load_system_prompt(
    shares: WindowShares, skills: str, instructions: str = "", schema: JsonSchema | None = None
) -> str:
    """Return the system prompt for a model's window, with the descriptions of skills.

    The user's instructions follow, and the schema that the answer must fit.
    """
    prompt = _load("system_small" if shares.is_small else "system")
    shape = "" if schema is None else _load("output_schema", schema=json.dumps(schema))
    return "\n\n".join(filter(None, (prompt, skills, instructions, shape)))


def load_ending(mode: Mode, shares: WindowShares, question: str) -> str:
    """Return what a request ends with in a mode; mostly nothing.

    A small model answers a question with a tool call, even if the request contains the answer,
    unless the last thing that it reads says otherwise.
    """
    if mode == "plan":
        return _load("plan_mode")
    needs_hint = shares.is_small and question.rstrip().endswith("?")
    return _load("small_window") if needs_hint else ""


def complete_request(
    request: ChatRequest, images: Sequence[Image], done: Sequence[Message]
) -> ChatRequest:
    """Return a request with the question's images, and with what a resumed turn has done."""
    *others, asked = request.messages
    assert isinstance(asked, UserMessage)
    messages = [*others, replace(asked, images=tuple(images))]
    if replayed := replay_messages(done):
        messages += [*replayed, UserMessage(CONTINUE)]
    return replace(request, messages=tuple(messages))


def fit_tools(tools: Sequence[Tool], max_chars: int | None) -> Sequence[Tool]:
    """Return the tools whose descriptions fit into a number of characters, in their order.

    If not all of them fit, each is described in one sentence: a small model can do more with many
    tools in few words than with few tools in many.
    """
    if max_chars is None or sum(tool.spec.chars for tool in tools) <= max_chars:
        return tools
    brief = [replace(tool, spec=_shorten(tool.spec)) for tool in tools]
    order = {name: at for at, name in enumerate(FIRST)}
    kept: set[str] = set()
    for tool in sorted(brief, key=lambda one: order.get(one.spec.name, len(order))):
        max_chars -= tool.spec.chars
        if max_chars < 0:
            break
        kept.add(tool.spec.name)
    return [tool for tool in brief if tool.spec.name in kept]


def _shorten(spec: ToolSpec) -> ToolSpec:
    """Return a tool with the first sentence of its description, and with plain arguments.

    Optional arguments are kept, as required ones, only if the sentence names them: a small model
    fills in every argument that it is offered.
    """
    sentence, stop, _ = " ".join(spec.description.split()).partition(". ")
    parameters = simplify_schema(spec.parameters)
    named = {*re.findall(r"\w+", sentence), *parameters.get("required", ())}
    fields = {key: value for key, value in parameters.get("properties", {}).items() if key in named}
    if fields:
        parameters = {**parameters, "properties": fields, "required": list(fields)}
    return replace(spec, description=sentence + stop.strip(), parameters=parameters)


def _load(name: str, **values: str) -> str:
    return load_prompt("ragforge.agent.prompts", name, **values)


async def read_final_answer(
    ask: Ask, on_round: OnRound, request: ChatRequest, text: str, schema: JsonSchema
) -> Json:
    """Return the value of an answer; while it does not fit, ask the model to repair it.

    `request` is the conversation up to the answer. Raises BadAnswer after a few repairs.
    """
    for repairs_left in range(MAX_REPAIRS, -1, -1):
        value, problems = _read_answer(text, schema)
        if not problems:
            return value
        if repairs_left:
            lines = "\n".join(f"- {problem}" for problem in problems)
            said = load_prompt("ragforge.llm.prompts", "repair", problems=lines, scope="")
            request = replace(
                request, messages=(*request.messages, UserMessage(said)), schema=schema
            )
            answer = (await ask(request)).message
            request, text = replace(request, messages=(*request.messages, answer)), answer.text
            await on_round(Round(text, answer.reasoning, ()))
    raise BadAnswer(
        f"The answer does not fit the schema, after {MAX_REPAIRS} repairs: {'; '.join(problems)}."
    )


def _read_answer(text: str, schema: JsonSchema) -> tuple[Json, Sequence[str]]:
    from ragforge.domain.json_schema import find_problems  # most answers have no schema

    try:
        value = read_json(text)
    except BadAnswer as error:
        return None, [str(error)]
    return value, find_problems(value, schema)[:MAX_PROBLEMS]
