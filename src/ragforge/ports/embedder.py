"""How texts become vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragforge.domain.vectors import Vector


class Embedder(Protocol):
    """A model of meaning."""

    name: str
    """Names the model and everything that shapes its vectors; vectors of two names never meet."""

    dimension: int

    max_chars: int
    """Longer texts are cut."""

    history_threshold: float
    """Turns and summaries below this score have nothing to do with a query."""

    code_threshold: float
    """Scopes below this score have nothing to do with a query."""

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one vector a text, in their order; None where a text holds no meaning."""

    async def embed_query(self, text: str) -> Vector | None:
        """Return the vector to search with, or None if the text holds no meaning."""
