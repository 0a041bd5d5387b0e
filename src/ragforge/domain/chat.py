"""Chat: requests to a model and its answers, independent of the provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from ragforge.domain.text import Json, to_text
from ragforge.records import dataclass

JsonSchema: TypeAlias = Mapping[str, Any]
ToolChoice: TypeAlias = Literal["auto", "required", "none"]
FinishReason: TypeAlias = Literal["stop", "length", "tool_calls", "filtered", "error"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: JsonSchema

    @property
    def chars(self) -> int:
        return len(self.name) + len(self.description) + len(to_text(self.parameters))


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A model's request to call a tool. Arguments that are not a JSON object stay unchanged."""

    id: str
    name: str
    arguments: Json


IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")


@dataclass(frozen=True, slots=True)
class Image:
    """An image of a question."""

    name: str  # as the question names it
    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class UserMessage:
    """Text of the user, or of RagForge on the user's behalf."""

    text: str
    context_chars: int = 0  # of its beginning: what was found, which a short window can spare
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One answer of a model."""

    text: str = ""
    reasoning: str = ""
    tool_requests: tuple[ToolRequest, ...] = ()
    original: object = field(default=None, repr=False, compare=False)
    """The provider's format: signed reasoning must be sent back unchanged."""


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one tool call."""

    request_id: str
    name: str
    text: str
    success: bool = True


ChatMessage: TypeAlias = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Everything that a model needs for its next answer."""

    messages: tuple[ChatMessage, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    schema: JsonSchema | None = None  # the answer must be JSON that fits this schema
    max_tokens: int | None = None
    temperature: float | None = None
    stable: int | None = None
    """How many of the first messages also begin the next request; None if there is none.

    The provider is told to cache them.
    """

    @property
    def chars(self) -> int:
        """The length of the request: its texts, the calls in them and the tools."""
        calls = (
            to_text(call.arguments)
            for message in self.messages
            if isinstance(message, AssistantMessage)
            for call in message.tool_requests
        )
        texts = (message.text for message in self.messages)
        tools = sum(tool.chars for tool in self.tools)
        return len(self.system) + sum(map(len, (*texts, *calls))) + tools


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of requests; `usd` is None if the price is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    usd: float | None = None
    cached_tokens: int = 0  # of the input, read from the provider's cache
    written_tokens: int = 0  # of the input, written to the provider's cache

    def __add__(self, other: Usage) -> Usage:
        prices = [usd for usd in (self.usd, other.usd) if usd is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.requests + other.requests,
            sum(prices) if prices else None,
            self.cached_tokens + other.cached_tokens,
            self.written_tokens + other.written_tokens,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens - other.input_tokens,
            self.output_tokens - other.output_tokens,
            self.requests - other.requests,
            None if self.usd is None else self.usd - (other.usd or 0.0),
            self.cached_tokens - other.cached_tokens,
            self.written_tokens - other.written_tokens,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer and what it cost."""

    message: AssistantMessage
    usage: Usage
    finish: FinishReason = "stop"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next part of an answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The next part of a model's reasoning."""

    text: str


StreamEvent: TypeAlias = TextDelta | ReasoningDelta | Reply
