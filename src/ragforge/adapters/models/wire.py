"""Wire: our chat in pydantic-ai's terms, and its answers in ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ragforge.domain.chat import (
    AssistantMessage,
    ChatRequest,
    FinishReason,
    Reply,
    ToolMessage,
    ToolRequest,
    Usage,
    UserMessage,
)
from ragforge.domain.text import Json

if TYPE_CHECKING:
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequestPart,
        ModelResponse,
        ModelResponsePart,
    )
    from pydantic_ai.models import Model, ModelRequestParameters

FINAL_ANSWER = "final_answer"
"""The tool by which a model without a better way answers according to a schema."""

_FINISHES: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_call": "tool_calls",
    "content_filter": "filtered",
    "error": "error",
}


def to_messages(request: ChatRequest, *, marks: bool = False) -> list[ModelMessage]:
    """Return the messages; neighbours of the same side become one, as providers demand.

    With `marks` the provider is shown where what it should cache ends.
    """
    from pydantic_ai.messages import ModelRequest, SystemPromptPart

    messages: list[ModelMessage] = []
    parts: list[ModelRequestPart] = [SystemPromptPart(request.system)] if request.system else []
    for place, message in enumerate(request.messages):
        if isinstance(message, AssistantMessage):
            if parts:
                messages.append(ModelRequest(parts))
                parts = []
            messages.append(_to_response(message))
        else:
            is_marked = marks and place > 0 and place == request.stable
            parts.append(_to_request_part(message, is_marked=is_marked))
    if parts:
        messages.append(ModelRequest(parts))
    return messages


def _to_request_part(message: UserMessage | ToolMessage, *, is_marked: bool) -> ModelRequestPart:
    """Return a message, with a mark before it where all before it should be cached."""
    from pydantic_ai.messages import BinaryContent, CachePoint, ToolReturnPart, UserPromptPart

    if isinstance(message, UserMessage):
        mark = [CachePoint()] if is_marked else []
        images = [BinaryContent(one.data, media_type=one.media_type) for one in message.images]
        return UserPromptPart([*mark, *images, message.text] if mark or images else message.text)
    return ToolReturnPart(
        tool_name=message.name,
        content=message.text,
        tool_call_id=message.request_id,
        outcome="success" if message.success else "failed",
    )


def _to_response(message: AssistantMessage) -> ModelResponse:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart

    if isinstance(message.original, ModelResponse):
        return message.original
    parts: list[ModelResponsePart] = [TextPart(message.text)] if message.text else []
    for wish in message.tool_requests:
        arguments = wish.arguments if isinstance(wish.arguments, dict) else str(wish.arguments)
        parts.append(ToolCallPart(wish.name, arguments, tool_call_id=wish.id))
    return ModelResponse(parts)


def to_parameters(request: ChatRequest, model: Model) -> ModelRequestParameters:
    """Return tools and the shape of the answer, in the way this model knows best."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=dict(tool.parameters),
        )
        for tool in request.tools
    ]
    if request.schema is None:
        return ModelRequestParameters(function_tools=tools)
    schema = dict(request.schema)
    if model.profile.get("supports_json_schema_output") and not tools:
        shape = OutputObjectDefinition(json_schema=schema, name=FINAL_ANSWER)
        return ModelRequestParameters(output_mode="native", output_object=shape)
    answer = ToolDefinition(
        name=FINAL_ANSWER,
        description="Give the final answer.",
        parameters_json_schema=schema,
        kind="output",
    )
    return ModelRequestParameters(
        function_tools=tools, output_mode="tool", output_tools=[answer], allow_text_output=False
    )


def read_reply(response: ModelResponse) -> Reply:
    """Return an answer in our terms; an answer given through the final tool is its text."""
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    texts: list[str] = []
    reasoning: list[str] = []
    wishes: list[ToolRequest] = []
    for part in response.parts:
        match part:
            case TextPart(content=text):
                texts.append(text)
            case ThinkingPart(content=text):
                reasoning.append(text)
            case ToolCallPart(tool_name=name, args=arguments) if name == FINAL_ANSWER:
                texts = [arguments if isinstance(arguments, str) else json.dumps(arguments)]
            case ToolCallPart(tool_name=name, args=arguments, tool_call_id=wish):
                wishes.append(ToolRequest(wish, name, _parse_arguments(arguments)))
            case _:
                pass  # files and what providers run by themselves: they were not asked for
    said = AssistantMessage("".join(texts), "\n".join(reasoning), tuple(wishes), original=response)
    finish = _FINISHES.get(response.finish_reason or "stop", "stop")
    return Reply(said, _read_usage(response), finish)


def _parse_arguments(given: Json) -> Json:
    """Return arguments as an object; anything but a JSON object stays as it is."""
    if not isinstance(given, str):
        return given or {}
    try:
        value = json.loads(given) if given.strip() else {}
    except ValueError:
        return given
    return value if isinstance(value, dict) else given


def _read_usage(response: ModelResponse) -> Usage:
    used = response.usage
    return Usage(
        used.input_tokens,
        used.output_tokens,
        requests=1,
        usd=_estimate_price(response),
        cached_tokens=used.cache_read_tokens,
        written_tokens=used.cache_write_tokens,
    )


def _estimate_price(response: ModelResponse) -> float | None:
    try:
        return float(response.cost().total_price)
    except Exception:  # unknown models and missing counts: the library raises many kinds
        return None
