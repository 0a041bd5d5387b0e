"""Chat: requests to a model and its answers, what they took, and how much fits into a model.

It is independent of the provider. What a model's tokens are is not known here, so characters are
counted cautiously.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from ragforge.domain.instants import now
from ragforge.domain.text import Json, new_id, to_text
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


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """One request of another agent, or all requests of one of RagForge's turns.

    `usd` is what the agent or the provider said that it cost.
    """

    conversation_id: str
    model: str | None
    input_tokens: int  # all of them
    output_tokens: int  # with those of the reasoning
    cached_tokens: int = 0  # of the input, read from the provider's cache
    written_tokens: int = 0  # of the input, written to the provider's cache
    requests: int = 1
    usd: float | None = None
    uuid: str = field(default_factory=new_id)
    created_at: datetime = field(default_factory=now)

    def to_usage(self, usd: float | None) -> Usage:
        """Return what can be added up, at a price."""
        return Usage(
            self.input_tokens,
            self.output_tokens,
            self.requests,
            usd,
            self.cached_tokens,
            self.written_tokens,
        )


@dataclass(frozen=True, slots=True)
class UsageFilter:
    """Which records to find; a field that is None does not restrict."""

    conversation_ids: Sequence[str] | None = None  # any of these
    since: datetime | None = None
    until: datetime | None = None


CHARS_A_TOKEN = 3
"""Fewer than in English prose: code, and most other languages, have more tokens."""
SMALL_TOKENS = 8_192
"""A window of up to this many tokens is small: every part of a request gets a share of it."""

# Shares of a small window in percent. With 4,096 tokens:         tokens  characters
TOOLS = 14  # what the model may do: read, change, run, search       573       1,720
CONTEXT = 32  # the project's own rules, history, what was found   1,310       3,932
CODE = 70  # of the context, before anything that is remembered      917       2,752
RESULTS = 22  # of tools, before the oldest are shortened            901       2,703
ANSWER = 18  # what the model writes at once                         737
# The rest, 14 percent, is for the system prompt, the question and the marks between messages.


@dataclass(frozen=True, slots=True)
class WindowShares:
    """Maximum number of characters of the parts of a request; None: no limit."""

    is_small: bool = False
    context: int | None = None
    code: int | None = None  # of the context
    tools: int | None = None  # their descriptions
    results: int | None = None  # of tools, before the oldest are shortened
    request: int | None = None  # all of it, without the answer
    answer: int | None = None  # in tokens

    @classmethod
    def of(cls, tokens: int | None) -> WindowShares:
        """Return the shares of a window."""
        if tokens is None:
            return cls()
        chars = tokens * CHARS_A_TOKEN
        if tokens > SMALL_TOKENS:
            return cls(context=chars // 3, tools=chars // 4, results=chars // 3)
        context = chars * CONTEXT // 100
        return cls(
            is_small=True,
            context=context,
            code=context * CODE // 100,
            tools=chars * TOOLS // 100,
            results=chars * RESULTS // 100,
            request=chars * (100 - ANSWER) // 100,
            answer=tokens * ANSWER // 100,
        )
