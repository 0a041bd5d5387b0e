"""How a model is asked to answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from ragforge.domain.chat import ChatRequest, Reply, StreamEvent


class ChatModel(Protocol):
    """A model that answers. One call is one request; patience is the caller's."""

    @property
    def name(self) -> str:
        """The provider and the model, as a user would name them."""

    @property
    def calls_tools(self) -> bool:
        """Whether it takes tools; a model that does not is asked through a schema."""

    @property
    def window(self) -> int | None:
        """How many tokens a request may have with its answer; None where that is not known yet."""

    async def prepare(self) -> None:
        """Load what the next request needs. Nothing is raised.

        Nothing is sent to another machine; a server on this one is asked for the model's window.
        """

    async def reply(self, request: ChatRequest) -> Reply:
        """Return the whole answer.

        Raises KeyRejected, RequestRefused, ToolsUnsupported, ModelBusy, ModelUnavailable,
        and BadAnswer if the provider's answer cannot be read.
        """

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        """Give the answer piece by piece, and last the whole of it as a `Reply`.

        Raises as `reply` does, also after some pieces.
        """

    async def close(self) -> None: ...
