"""A provider's model, through pydantic-ai: requests, streams and their failures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from ragforge.adapters.models.failures import translate_error
from ragforge.domain import chat
from ragforge.domain.chat import (
    WindowShares,
)
from ragforge.domain.text import Json
from ragforge.errors import BadAnswer, ContextOverflow, ModelUnavailable
from ragforge.records import dataclass

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequestPart,
        ModelResponse,
        ModelResponsePart,
    )
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings, ThinkingLevel


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a request may take, and how much the model reasons."""

    seconds: float = 120.0  # between two signs of life
    request_seconds: float = 900.0  # for a whole answer
    thinking: ThinkingLevel | None = None
    max_tokens: int | None = None  # of an answer, where a request does not say
    window: int | None = None  # in tokens; None: find it out


LOOKS = 3
"""How often a model's window is looked for: a server may not know it before it is first asked."""


class ProvidedModel:
    """Implements `ChatModel`."""

    def __init__(
        self,
        name: str,
        model: Model,
        http: AsyncClient,
        limits: Limits,
        calls_tools: bool = True,
        secret: str = "",
        takes_marks: bool = False,
        address: str = "",
    ) -> None:
        self.name = name
        self.window = limits.window
        self._looks = LOOKS
        self.calls_tools = calls_tools and bool(model.profile.get("supports_tools", True))
        self._model = model
        self._http = http
        self._limits = limits
        self._secret = secret
        self._takes_marks = takes_marks  # of where its cache should end
        self._address = address  # of the server, for the user

    async def prepare(self) -> None:
        await asyncio.to_thread(import_module, "pydantic_ai.direct")
        if self.window is None and self._looks:
            self._looks -= 1
            self.window = await self._find_window()

    async def _find_window(self) -> int | None:
        from ragforge.adapters.models import known_models

        address, name = self._model.base_url, self._model.model_name
        if address is not None and known_models.is_on_this_machine(address):
            return await known_models.ask_window(self._http, address, name)
        service = self.name.partition(":")[0]
        return await asyncio.to_thread(known_models.find_known_window, service, name)

    async def reply(self, request: chat.ChatRequest) -> chat.Reply:
        from pydantic_ai.direct import model_request

        with self._translating(request):
            response = await model_request(
                self._model,
                to_messages(request, marks=self._takes_marks),
                model_settings=self._settings(request),
                model_request_parameters=to_parameters(request, self._model),
            )
            return self._check(read_reply(response))

    async def stream(self, request: chat.ChatRequest) -> AsyncIterator[chat.StreamEvent]:
        from pydantic_ai.direct import model_request_stream

        with self._translating(request):
            async with model_request_stream(
                self._model,
                to_messages(request, marks=self._takes_marks),
                model_settings=self._settings(request),
                model_request_parameters=to_parameters(request, self._model),
            ) as pieces:
                async for event in pieces:
                    if piece := _read_delta(event):
                        yield piece
                if not _is_complete(pieces):
                    raise ModelUnavailable(f"{self.name} broke off before the end of its answer.")
                yield self._check(read_reply(pieces.get()))

    async def close(self) -> None:
        await self._http.aclose()

    def _check(self, reply: chat.Reply) -> chat.Reply:
        said = reply.message
        if not said.text.strip() and not said.tool_requests and reply.finish != "length":
            raise BadAnswer(f"{self.name} gave an empty answer ({reply.finish}).")
        return reply

    def _settings(self, request: chat.ChatRequest) -> ModelSettings:
        # The caller retries: the libraries' retries would multiply that.
        settings: ModelSettings = {
            "timeout": self._limits.seconds,
            "request_timeout": self._limits.request_seconds,
            "parallel_tool_calls": True,
        }
        if "max_retries" not in self._model.unsupported_settings:
            settings["max_retries"] = 0
        if not request.tools:
            del settings["parallel_tool_calls"]
        # A small model may repeat itself until its window is full, which takes minutes.
        room = WindowShares.of(self.window).answer
        if max_tokens := request.max_tokens or self._limits.max_tokens or room:
            settings["max_tokens"] = max_tokens
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        if self._limits.thinking is not None:
            settings["thinking"] = self._limits.thinking
        if request.tools and request.tool_choice != "auto":
            settings["tool_choice"] = request.tool_choice
        if request.stable is not None:  # one request of many: what is written to a cache is read
            settings["cache"] = True
        return settings

    @contextmanager
    def _translating(self, request: chat.ChatRequest) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            ours = translate_error(
                error, self.name, self._secret, self._address, with_tools=bool(request.tools)
            )
            if isinstance(ours, ContextOverflow) and ours.window is not None:
                self.window = ours.window
            # Not `from error`: what the library says may hold the key.
            raise ours from None


def _is_complete(pieces: StreamedResponse) -> bool:
    """Tell whether the provider said why its answer ends; a stream that just ends was cut."""
    said = (pieces.provider_details or {}).get("finish_reason")
    return bool(said) or pieces.finish_reason == "content_filter"


def _read_delta(event: object) -> chat.StreamEvent | None:
    from pydantic_ai.messages import (
        PartDeltaEvent,
        PartStartEvent,
        TextPart,
        TextPartDelta,
        ThinkingPart,
        ThinkingPartDelta,
    )

    match event:
        case PartStartEvent(part=TextPart(content=text)) if text:
            return chat.TextDelta(text)
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
            return chat.TextDelta(text)
        case PartStartEvent(part=ThinkingPart(content=text)) if text:
            return chat.ReasoningDelta(text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))) if text:
            return chat.ReasoningDelta(text)
        case _:
            return None


FINAL_ANSWER = "final_answer"
"""The tool by which a model without a better way answers according to a schema."""

_FINISHES: dict[str, chat.FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_call": "tool_calls",
    "content_filter": "filtered",
    "error": "error",
}


def to_messages(request: chat.ChatRequest, *, marks: bool = False) -> list[ModelMessage]:
    """Return the messages; neighbours of the same side become one, as providers demand.

    With `marks` the provider is shown where what it should cache ends.
    """
    from pydantic_ai.messages import ModelRequest, SystemPromptPart

    messages: list[ModelMessage] = []
    parts: list[ModelRequestPart] = [SystemPromptPart(request.system)] if request.system else []
    for place, message in enumerate(request.messages):
        if isinstance(message, chat.AssistantMessage):
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


def _to_request_part(
    message: chat.UserMessage | chat.ToolMessage, *, is_marked: bool
) -> ModelRequestPart:
    """Return a message, with a mark before it where all before it should be cached."""
    from pydantic_ai.messages import BinaryContent, CachePoint, ToolReturnPart, UserPromptPart

    if isinstance(message, chat.UserMessage):
        mark = [CachePoint()] if is_marked else []
        images = [BinaryContent(one.data, media_type=one.media_type) for one in message.images]
        return UserPromptPart([*mark, *images, message.text] if mark or images else message.text)
    return ToolReturnPart(
        tool_name=message.name,
        content=message.text,
        tool_call_id=message.request_id,
        outcome="success" if message.success else "failed",
    )


def _to_response(message: chat.AssistantMessage) -> ModelResponse:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart

    if isinstance(message.original, ModelResponse):
        return message.original
    parts: list[ModelResponsePart] = [TextPart(message.text)] if message.text else []
    for wish in message.tool_requests:
        arguments = wish.arguments if isinstance(wish.arguments, dict) else str(wish.arguments)
        parts.append(ToolCallPart(wish.name, arguments, tool_call_id=wish.id))
    return ModelResponse(parts)


def to_parameters(request: chat.ChatRequest, model: Model) -> ModelRequestParameters:
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


def read_reply(response: ModelResponse) -> chat.Reply:
    """Return an answer in our terms; an answer given through the final tool is its text."""
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    texts: list[str] = []
    reasoning: list[str] = []
    wishes: list[chat.ToolRequest] = []
    for part in response.parts:
        match part:
            case TextPart(content=text):
                texts.append(text)
            case ThinkingPart(content=text):
                reasoning.append(text)
            case ToolCallPart(tool_name=name, args=arguments) if name == FINAL_ANSWER:
                texts = [arguments if isinstance(arguments, str) else json.dumps(arguments)]
            case ToolCallPart(tool_name=name, args=arguments, tool_call_id=wish):
                wishes.append(chat.ToolRequest(wish, name, _parse_arguments(arguments)))
            case _:
                pass  # files and what providers run by themselves: they were not asked for
    said = chat.AssistantMessage(
        "".join(texts), "\n".join(reasoning), tuple(wishes), original=response
    )
    finish = _FINISHES.get(response.finish_reason or "stop", "stop")
    return chat.Reply(said, _read_usage(response), finish)


def _parse_arguments(given: Json) -> Json:
    """Return arguments as an object; anything but a JSON object stays as it is."""
    if not isinstance(given, str):
        return given or {}
    try:
        value = json.loads(given) if given.strip() else {}
    except ValueError:
        return given
    return value if isinstance(value, dict) else given


def _read_usage(response: ModelResponse) -> chat.Usage:
    used = response.usage
    return chat.Usage(
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
