"""Models: a chat model answers a request, an embedder turns texts into vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Literal, Protocol, TypeAlias

from ragforge.domain.chat import ChatRequest, Reply, StreamEvent
from ragforge.domain.vectors import MeaningWeights, Vector
from ragforge.records import dataclass

Purpose: TypeAlias = Literal["document", "query"]


class Embedder(Protocol):
    """An embedding model."""

    @property
    def name(self) -> str:
        """Identifies the model and all that affects its vectors; those of two names never mix."""

    @property
    def dimension(self) -> int:
        """0 until the first answer shows it."""

    @property
    def max_chars(self) -> int:
        """Longer texts are cut."""

    @property
    def history_threshold(self) -> float:
        """Turns and summaries below this score are not relevant to a query."""

    @property
    def code_threshold(self) -> float:
        """Scopes below this score are not relevant to a query."""

    @property
    def weights(self) -> MeaningWeights:
        """How much its vectors count relative to words."""

    @property
    def multilingual(self) -> bool:
        """Whether a question in one language is close to its answer in another."""

    async def prepare(self) -> None:
        """Load what the first text needs, without network access."""

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return a vector for each text, in order; None for a text without meaning.

        Raises ModelError.
        """

    async def embed_query(self, text: str) -> Vector | None:
        """Return the vector to search with, or None if the text has no meaning.

        Raises ModelError.
        """

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Embedded:
    """The result of a request: one vector for each text, in the order of the texts."""

    vectors: list[list[float]]
    tokens: int  # as counted by the provider; 0 where it does not say


class EmbeddingService(Protocol):
    """A provider's embedding model. The caller batches, retries and counts."""

    @property
    def name(self) -> str:
        """Identifies the model and all that affects its vectors."""

    @property
    def dimension(self) -> int | None:
        """None until an answer shows it."""

    @property
    def max_texts(self) -> int:
        """Maximum number of texts in a request."""

    @property
    def max_chars(self) -> int:
        """Maximum number of characters of a text that the model reads."""

    @property
    def usd_per_million_tokens(self) -> float | None:
        """None if the price is not known."""

    @property
    def history_threshold(self) -> float: ...

    @property
    def code_threshold(self) -> float: ...

    @property
    def weights(self) -> MeaningWeights: ...

    @property
    def multilingual(self) -> bool: ...

    async def request(self, texts: Sequence[str], purpose: Purpose) -> Embedded:
        """Embed up to `max_texts` texts in one request.

        Raises KeyRejected, RequestRefused, ModelBusy, ModelUnavailable, and BadAnswer if the
        answer does not hold exactly one usable vector for each text.
        """

    async def close(self) -> None: ...


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
