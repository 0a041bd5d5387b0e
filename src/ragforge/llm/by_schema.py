"""Tools through a schema: for models that cannot call them natively."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ragforge.domain.chat import (
    AssistantMessage,
    ChatMessage,
    JsonSchema,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)
from ragforge.errors import BadAnswer
from ragforge.llm.fit import RESULTS
from ragforge.llm.prompts import load_prompt
from ragforge.llm.task import read_json

_PLAIN = ("string", "integer", "number", "boolean")


def build_call_schema(answer: JsonSchema | None, tools: Sequence[ToolSpec]) -> JsonSchema:
    """Return the schema of an answer that either calls tools or is final.

    Each tool has its own arguments in it, so that a server that keeps a model to the schema keeps
    it to them too.
    """
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": [tool.name]},
                "arguments": simplify_schema(tool.parameters, described=False),
            },
            "required": ["name", "arguments"],
        }
        for tool in tools
    ]
    call = calls[0] if len(calls) == 1 else {"anyOf": calls}
    final = {key: value for key, value in (answer or {"type": "string"}).items() if key != "$defs"}
    shape: dict[str, Any] = {
        "type": "object",
        "properties": {
            "tool_calls": {"type": "array", "items": call},
            "answer": {"anyOf": [final, {"type": "null"}]},
        },
        "required": ["tool_calls", "answer"],
    }
    definitions = (answer or {}).get("$defs")
    return {**shape, "$defs": definitions} if definitions else shape


def describe_tools(system: str, tools: Sequence[ToolSpec]) -> str:
    """Return the system prompt with the tools described in it."""
    described = [
        f"## {tool.name}\n\n{tool.description}\n\nArguments: {json.dumps(tool.parameters)}"
        for tool in tools
    ]
    about = load_prompt("ragforge.llm.prompts", "tools_by_schema", tools="\n\n".join(described))
    return f"{system}\n\n{about}".strip()


def render_request(requests: Sequence[ToolRequest]) -> str:
    """Return an answer that asks for calls and says nothing else.

    A small model often invents the results next to its calls. It would believe them later.
    """
    calls = [{"name": one.name, "arguments": one.arguments} for one in requests]
    return json.dumps({"tool_calls": calls, "answer": None}, ensure_ascii=False)


def render_calls(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return messages with calls and results as text, for a model without native tools."""
    said: list[ChatMessage] = []
    for message in messages:
        match message:
            case AssistantMessage(text=text, tool_requests=requests) if requests:
                calls = [f"(called {one.name} {json.dumps(one.arguments)})" for one in requests]
                said.append(AssistantMessage("\n".join(filter(None, (text, *calls)))))
            case ToolMessage(name=name, text=text):
                said.append(UserMessage(f"{RESULTS}## {name}\n\n{text}"))
            case _:
                said.append(message)
    return tuple(said)


def read_calls(
    text: str, iteration: int, as_text: bool = False
) -> tuple[tuple[ToolRequest, ...], str]:
    """Return the calls an answer asks for, and the final answer where it has one.

    The final answer is JSON, or plain text with `as_text`; there is none next to calls. An answer
    that does not follow the schema is taken as final.
    """
    try:
        value = read_json(text)
    except BadAnswer:
        return (), text
    if not isinstance(value, dict) or not {"tool_calls", "answer"} & set(value):
        return (), text
    requests = tuple(
        ToolRequest(f"schema-{iteration}-{number}", str(call["name"]), call.get("arguments", {}))
        for number, call in enumerate(value.get("tool_calls") or [])
        if isinstance(call, dict) and "name" in call
    )
    final = value.get("answer")
    if final is None or requests:  # an answer next to calls was given before their results
        return requests, ""
    if as_text and isinstance(final, str):
        return requests, final
    return requests, json.dumps(final, ensure_ascii=False)


def simplify_schema(schema: JsonSchema, *, described: bool = True) -> JsonSchema:
    """Return the schema of an object without defaults, nulls and most limits.

    An object whose fields are not all plain values, or lists of them, becomes any object.
    """
    fields: dict[str, Any] = {}
    for name, field in (schema.get("properties") or {}).items():
        plain = _simplify_field(field)
        if plain is None:
            return {"type": "object"}
        if described and "description" in field:
            plain["description"] = field["description"]
        fields[name] = plain
    if not fields:
        return {"type": "object"}
    required = [name for name in schema.get("required", ()) if name in fields]
    return {"type": "object", "properties": fields, "required": required}


def _simplify_field(field: object) -> dict[str, Any] | None:
    if not isinstance(field, Mapping):
        return None
    if "anyOf" in field:
        others = [one for one in field["anyOf"] if one != {"type": "null"}]
        return _simplify_field(others[0]) if len(others) == 1 else None
    kind, values = field.get("type"), field.get("enum")
    if values is not None:
        is_text = all(isinstance(value, str) for value in values)
        return {"type": "string", "enum": list(values)} if is_text else None
    if kind in _PLAIN:
        bounds = {"minLength": 1} if field.get("minLength") else {}
        return {"type": kind, **bounds}
    if kind == "array" and (items := _simplify_field(field.get("items"))) is not None:
        return {"type": "array", "items": items}
    return None
