"""Chat models: one request, one answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from ragforge.domain.chat import ChatRequest, Reply, StreamEvent


class ChatModel(Protocol):
    """A chat model. One call is one request; the caller retries."""

    @property
    def name(self) -> str:
        """The provider and the model, as a user would name them."""

    @property
    def calls_tools(self) -> bool:
        """Whether it can call tools; otherwise tools are described by a schema."""

    @property
    def window(self) -> int | None:
        """The maximum number of tokens of a request and its answer; None if not known yet."""

    async def prepare(self) -> None:
        """Load what the next request needs. Never raises.

        Nothing is sent to another machine; a server on this one is asked for the model's window.
        """

    async def reply(self, request: ChatRequest) -> Reply:
        """Return the whole answer.

        Raises KeyRejected, RequestRefused, ToolsUnsupported, ModelBusy, ModelUnavailable,
        and BadAnswer if the provider's answer cannot be read.
        """

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        """Yield the answer in pieces, and at the end all of it as a `Reply`.

        Raises as `reply` does, also after some pieces.
        """

    async def close(self) -> None: ...
