"""A provider's model, through pydantic-ai: requests, streams and their failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from ragforge.adapters.models.failures import translate_error
from ragforge.adapters.models.wire import read_reply, to_messages, to_parameters
from ragforge.domain.chat import (
    ChatRequest,
    ReasoningDelta,
    Reply,
    StreamEvent,
    TextDelta,
    WindowShares,
)
from ragforge.errors import BadAnswer, ContextOverflow, ModelUnavailable
from ragforge.records import dataclass

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model, StreamedResponse
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
        from ragforge.adapters.models import windows

        address, name = self._model.base_url, self._model.model_name
        if address is not None and windows.is_on_this_machine(address):
            return await windows.ask_window(self._http, address, name)
        service = self.name.partition(":")[0]
        return await asyncio.to_thread(windows.find_known_window, service, name)

    async def reply(self, request: ChatRequest) -> Reply:
        from pydantic_ai.direct import model_request

        with self._translating(request):
            response = await model_request(
                self._model,
                to_messages(request, marks=self._takes_marks),
                model_settings=self._settings(request),
                model_request_parameters=to_parameters(request, self._model),
            )
            return self._check(read_reply(response))

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
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

    def _check(self, reply: Reply) -> Reply:
        said = reply.message
        if not said.text.strip() and not said.tool_requests and reply.finish != "length":
            raise BadAnswer(f"{self.name} gave an empty answer ({reply.finish}).")
        return reply

    def _settings(self, request: ChatRequest) -> ModelSettings:
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
    def _translating(self, request: ChatRequest) -> Iterator[None]:
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


def _read_delta(event: object) -> StreamEvent | None:
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
            return TextDelta(text)
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
            return TextDelta(text)
        case PartStartEvent(part=ThinkingPart(content=text)) if text:
            return ReasoningDelta(text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))) if text:
            return ReasoningDelta(text)
        case _:
            return None
