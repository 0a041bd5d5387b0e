"""Questions: what a server asks the user while it runs a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp_types import ElicitRequestParams, ElicitRequestURLParams, ElicitResult

from ragforge.domain.mcp_client import AnswerServer, FieldKind, QuestionField, ServerQuestion
from ragforge.domain.text import shorten_end

MAX_FIELDS = 20
MAX_CHOICES = 100
LABEL_CHARS = 100
DESCRIPTION_CHARS = 500
MESSAGE_CHARS = 2_000
URL_CHARS = 2_000
_KINDS: Mapping[str, FieldKind] = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "array": "choices",
}
_CHECKED = ("type", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
"""What a server may demand of a value. Patterns are left to it: they could take forever."""


def make_callback(server: str, answer: AnswerServer) -> ElicitationFnT:
    """Return what the SDK calls with the questions of a server."""

    async def ask(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        question = read_question(server, params)
        if question is None:  # it cannot be shown as it is meant
            return ElicitResult(action="decline")
        given = await answer(question)
        if given.action != "accept" or question.url:
            return ElicitResult(action=given.action)
        return ElicitResult(action="accept", content=dict(given.values))

    return ask


def read_question(server: str, params: ElicitRequestParams) -> ServerQuestion | None:
    """Return a question that can be put to a user, or None."""
    message = shorten_end(params.message, MESSAGE_CHARS)
    if isinstance(params, ElicitRequestURLParams):
        is_page = params.url.startswith(("https://", "http://")) and len(params.url) <= URL_CHARS
        return ServerQuestion(server, message, url=params.url) if is_page else None
    schema = params.requested_schema
    properties = schema.get("properties") or {}
    if not isinstance(properties, dict) or len(properties) > MAX_FIELDS:
        return None
    required = schema.get("required") or []
    fields = [_read_field(str(name), one, name in required) for name, one in properties.items()]
    if any(one is None for one in fields):
        return None
    return ServerQuestion(server, message, tuple(one for one in fields if one is not None))


def _read_field(name: str, schema: Any, is_required: bool) -> QuestionField | None:
    if not isinstance(schema, dict) or schema.get("type") not in _KINDS:
        return None
    kind = _KINDS[schema["type"]]
    items = schema.get("items") if kind == "choices" else schema
    choices = _read_choices(items if isinstance(items, dict) else {})
    if (kind == "choices" and not choices) or len(choices) > MAX_CHOICES:
        return None
    if kind == "text" and choices:
        kind = "choice"
    checked = {key: schema[key] for key in _CHECKED if key in schema}
    values = [value for value, _ in choices]
    if kind == "choice":
        checked["enum"] = values
    elif kind == "choices":
        checked["items"] = {"enum": values}
    return QuestionField(
        name,
        kind,
        checked,
        shorten_end(str(schema.get("title") or name), LABEL_CHARS),
        shorten_end(str(schema.get("description") or ""), DESCRIPTION_CHARS),
        choices,
        is_required,
    )


def _read_choices(schema: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the values of a choice, each with how it is shown."""
    options = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(options, list):
        return tuple(
            (str(one["const"]), str(one.get("title") or one["const"]))
            for one in options
            if isinstance(one, dict) and "const" in one
        )
    values = schema.get("enum")
    if not isinstance(values, list):
        return ()
    names = schema.get("enumNames")
    shown = names if isinstance(names, list) and len(names) == len(values) else values
    return tuple((str(value), str(name)) for value, name in zip(values, shown, strict=True))
