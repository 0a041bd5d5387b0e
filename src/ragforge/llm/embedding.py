"""Embedding: make an embedder of any embedding service.

A service handles one request. This adds batches, retries, the spend cap and odd texts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ragforge.concurrency import gather_or_cancel
from ragforge.domain.chat import Usage
from ragforge.domain.vectors import MeaningWeights, Vector
from ragforge.errors import BadAnswer, ModelError, RequestRefused
from ragforge.llm.ask import Meter, RetryPolicy, Sleep, with_retries
from ragforge.ports.models import EmbeddingService, Purpose

BATCH_CHARS = 100_000
"""The most characters in one request: providers limit its size as a whole, too."""

CHARS_PER_TOKEN = 4  # where a provider does not count

_PATIENCE = RetryPolicy()
_HARMLESS = "hello"
_SHORT = 1_000


class RemoteEmbedder:
    """Implements `Embedder` over a service."""

    def __init__(
        self,
        service: EmbeddingService,
        meter: Meter,
        patience: RetryPolicy = _PATIENCE,
        concurrency: int = 4,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._service = service
        self._meter = meter
        self._patience = patience
        self._concurrency = concurrency
        self._sleep = sleep
        self._pending: dict[str, _PendingQuery] = {}
        self._last: tuple[str, Vector | None] = ("", None)  # searches of one context begin in turn
        self.name = service.name
        self.dimension = service.dimension or 0  # 0 until the first answer
        self.max_chars = service.max_chars
        self.history_threshold = service.history_threshold
        self.code_threshold = service.code_threshold
        self.weights = service.weights
        self.multilingual = service.multilingual

    async def prepare(self) -> None:
        """Do nothing: the service is first used with the first text."""

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Embed texts in as few requests as the service allows, some of them at once.

        Raises the error of the service's last attempt, or SpendCapReached. A text that the
        service refuses, while it accepts others, has no vector.
        """
        return await self._embed(texts, "document")

    async def embed_query(self, text: str) -> Vector | None:
        """Embed a query; searches for the same query share one request, also one after another."""
        if self._last[0] == text:
            return self._last[1]
        if text not in self._pending:
            self._pending[text] = _PendingQuery(asyncio.create_task(self._embed([text], "query")))
        pending = self._pending[text]
        pending.waiting += 1
        try:
            [vector] = await asyncio.shield(pending.task)
            self._last = text, vector
        finally:
            pending.waiting -= 1
            if not pending.waiting:
                del self._pending[text]
                pending.task.cancel()  # unless it is done
                await asyncio.wait([pending.task])
        return vector

    async def close(self) -> None:
        await self._service.close()

    async def _embed(self, texts: Sequence[str], purpose: Purpose) -> list[Vector | None]:
        found: list[Vector | None] = [None] * len(texts)
        cut = ((place, text[: self.max_chars]) for place, text in enumerate(texts))
        kept = ((place, text) for place, text in cut if text and not text.isspace())
        batches = list(_split_batches(kept, self._service.max_texts))
        waiting = iter(batches)

        async def work() -> None:
            for batch in waiting:
                vectors = await self._embed_batch(list(batch.values()), purpose)
                for place, vector in zip(batch, vectors, strict=True):
                    found[place] = vector

        await gather_or_cancel(*(work() for _ in range(min(self._concurrency, len(batches)))))
        return found

    async def _embed_batch(self, texts: list[str], purpose: Purpose) -> list[Vector | None]:
        try:
            return [*await self._request(texts, purpose)]
        except RequestRefused:
            # Is it these texts? A service that refuses any text at all raises here again, and
            # is not asked about each of them.
            await self._request([_HARMLESS], purpose)
            return await self._embed_parts(texts, purpose)

    async def _embed_parts(self, texts: list[str], purpose: Purpose) -> list[Vector | None]:
        """Halve what was refused, until each refused text is the only one in its request.

        A long text is tried again with its first half: it may have more tokens than
        its length suggests.
        """
        half = len(texts) // 2
        if half:
            parts = [texts[:half], texts[half:]]
        elif len(texts[0]) > _SHORT:
            parts = [[texts[0][: len(texts[0]) // 2]]]
        else:
            return [None]
        found: list[Vector | None] = []
        for part in parts:
            try:
                found += await self._request(part, purpose)
            except RequestRefused:
                found += await self._embed_parts(part, purpose)
        return found

    async def _request(self, texts: list[str], purpose: Purpose) -> list[Vector]:
        async def attempt() -> list[Vector]:
            self._meter.check()
            try:
                embedded = await self._service.request(texts, purpose)
            except BadAnswer:
                self._count(texts, 0)  # it is charged like any other
                raise
            self._count(texts, embedded.tokens)
            return self._to_unit_vectors(embedded.vectors, len(texts))

        try:
            return await with_retries(attempt, self._patience, self._sleep)
        except BadAnswer:
            return await with_retries(attempt, self._patience, self._sleep)

    def _count(self, texts: list[str], tokens: int) -> None:
        tokens = tokens or -(-sum(map(len, texts)) // CHARS_PER_TOKEN)
        price = self._service.usd_per_million_tokens
        usd = None if price is None else tokens * price / 1_000_000
        self._meter.add(Usage(input_tokens=tokens, requests=1, usd=usd))

    def _to_unit_vectors(self, rows: list[list[float]], count: int) -> list[Vector]:
        """Return unit vectors: not every service normalises them."""
        import numpy as np

        if len(rows) != count:
            raise BadAnswer(f"{self.name} gave {len(rows)} vectors for {count} texts")
        size = self.dimension or len(rows[0])
        if not size or any(len(row) != size for row in rows):
            raise BadAnswer(f"{self.name} gave vectors of other dimensions than {size}")
        table = np.array(rows, np.float64)
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(table, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise BadAnswer(f"{self.name} gave a vector without a direction")
        self.dimension = size
        return [Vector(self.name, row.tobytes()) for row in (table / lengths).astype("<f4")]


@dataclass(slots=True)
class _PendingQuery:
    """A query that is being embedded, and how many callers wait for it."""

    task: asyncio.Task[list[Vector | None]]
    waiting: int = 0


def _split_batches(texts: Iterable[tuple[int, str]], limit: int) -> Iterator[dict[int, str]]:
    """Group texts, by their places, into requests of at most `limit` texts and BATCH_CHARS."""
    batch: dict[int, str] = {}
    chars = 0
    for place, text in texts:
        if batch and (len(batch) == limit or chars + len(text) > BATCH_CHARS):
            yield batch
            batch, chars = {}, 0
        batch[place] = text
        chars += len(text)
    if batch:
        yield batch


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
