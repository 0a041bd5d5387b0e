"""How texts become vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragforge.domain.vectors import MeaningWeights, Vector


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
        """How much its vectors count beside words."""

    @property
    def multilingual(self) -> bool:
        """Whether a question in one language is near to its answer in another."""

    async def prepare(self) -> None:
        """Load what the first text needs; nobody outside of this machine is asked."""

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one vector a text, in their order; None where a text holds no meaning.

        Raises ModelError.
        """

    async def embed_query(self, text: str) -> Vector | None:
        """Return the vector to search with, or None if the text holds no meaning.

        Raises ModelError.
        """

    async def close(self) -> None: ...
