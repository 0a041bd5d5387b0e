"""How texts become vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from ragforge.domain.vectors import MeaningWeights, Vector
from ragforge.records import dataclass

Purpose: TypeAlias = Literal["document", "query"]


class Embedder(Protocol):
    """A model of meaning."""

    @property
    def name(self) -> str:
        """Names the model and everything that shapes its vectors; two names' never meet."""

    @property
    def dimension(self) -> int:
        """0 where only a first answer can tell."""

    @property
    def max_chars(self) -> int:
        """Longer texts are cut."""

    @property
    def history_threshold(self) -> float:
        """Turns and summaries below this score have nothing to do with a query."""

    @property
    def code_threshold(self) -> float:
        """Scopes below this score have nothing to do with a query."""

    @property
    def weights(self) -> MeaningWeights:
        """How much its vectors count relative to words."""

    @property
    def multilingual(self) -> bool:
        """Whether a question in one language is near to its answer in another."""

    async def prepare(self) -> None:
        """Load what the first text needs, without network access."""

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one vector a text, in their order; None where a text holds no meaning.

        Raises ModelError.
        """

    async def embed_query(self, text: str) -> Vector | None:
        """Return the vector to search with, or None if the text holds no meaning.

        Raises ModelError.
        """

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Embedded:
    """What one request gave: one vector a text, in the order of the texts."""

    vectors: list[list[float]]
    tokens: int  # as counted by the provider; 0 where it does not say


class EmbeddingService(Protocol):
    """A provider's embedding model. Batching, retries and counting are the caller's."""

    @property
    def name(self) -> str:
        """Names the model and everything that shapes its vectors."""

    @property
    def dimension(self) -> int | None:
        """None where only an answer can tell."""

    @property
    def max_texts(self) -> int:
        """The most texts that one request may hold."""

    @property
    def max_chars(self) -> int:
        """The most characters of a text that the model reads."""

    @property
    def usd_per_million_tokens(self) -> float | None:
        """None where the price is not known."""

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
