"""Lazy models: opened on first use, so that commands without a request load nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import field

from ragforge.domain.chat import ChatRequest, Reply, StreamEvent
from ragforge.domain.vectors import MeaningWeights, Vector
from ragforge.errors import ModelError
from ragforge.ports.chat import ChatModel
from ragforge.records import dataclass


@dataclass(slots=True)
class LazyModel:
    """A chat model that is loaded on first use; errors of loading are raised then."""

    name: str
    calls_tools: bool
    open: Callable[[], ChatModel]
    _opened: ChatModel | None = field(default=None, init=False)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    @property
    def window(self) -> int | None:
        return None if self._opened is None else self._opened.window

    async def prepare(self) -> None:
        with suppress(ModelError):  # the first request raises it
            await (await self._load()).prepare()

    async def reply(self, request: ChatRequest) -> Reply:
        return await (await self._load()).reply(request)

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        async for event in (await self._load()).stream(request):
            yield event

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _load(self) -> ChatModel:
        """Return the model. It is opened in a thread: that imports a provider's library."""
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self.open)
        return self._opened


@dataclass(frozen=True, slots=True)
class UnusableEmbedder:
    """An embedding model that cannot be used: every request raises the reason."""

    name: str
    error: ModelError
    dimension: int = 0
    max_chars: int = 0
    history_threshold: float = 1.0
    code_threshold: float = 1.0
    weights: MeaningWeights = field(default_factory=MeaningWeights)
    multilingual: bool = False

    async def prepare(self) -> None:
        """Do nothing: there is nothing to load."""

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        raise self.error

    async def embed_query(self, text: str) -> Vector | None:
        raise self.error

    async def close(self) -> None:
        """Do nothing: nothing was opened."""
