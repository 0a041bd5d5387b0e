"""Lazy models: opened when first asked; a command that asks nothing pays nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ragforge.domain.chat import ChatRequest, Reply, StreamEvent
from ragforge.domain.vectors import MeaningWeights, Vector
from ragforge.errors import ModelError
from ragforge.ports.chat import ChatModel


@dataclass(slots=True)
class LazyModel:
    """A chat model that is loaded when it is needed; what keeps it from that is told then."""

    name: str
    calls_tools: bool
    open: Callable[[], ChatModel]
    _opened: ChatModel | None = field(default=None, init=False)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def prepare(self) -> None:
        with suppress(ModelError):  # whoever asks it something learns why
            await (await self._model()).prepare()

    async def reply(self, request: ChatRequest) -> Reply:
        return await (await self._model()).reply(request)

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        async for event in (await self._model()).stream(request):
            yield event

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _model(self) -> ChatModel:
        """Return the model. Opening it imports a provider's library: that is done in a thread."""
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self.open)
        return self._opened


@dataclass(frozen=True, slots=True)
class UnusableEmbedder:
    """Stands for an embedding model that cannot be used, and says why whenever it is asked."""

    name: str
    error: ModelError
    dimension: int = 0
    max_chars: int = 0
    history_threshold: float = 1.0
    code_threshold: float = 1.0
    weights: MeaningWeights = field(default_factory=MeaningWeights)
    multilingual: bool = False

    async def prepare(self) -> None:
        """Nothing could be loaded; whoever asks learns why."""

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        raise self.error

    async def embed_query(self, text: str) -> Vector | None:
        raise self.error

    async def close(self) -> None:
        """Nothing was opened."""
