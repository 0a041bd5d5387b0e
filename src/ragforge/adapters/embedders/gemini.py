"""Gemini: embeddings from Google's Gemini API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ragforge.adapters.embedders.http import (
    CHARS_PER_TOKEN,
    Provider,
    check_vectors,
    count_of,
    format_service_name,
)
from ragforge.domain.vectors import TRANSFORMER
from ragforge.errors import BadAnswer
from ragforge.ports.models import Embedded, Purpose

BASE_URL = "https://generativelanguage.googleapis.com"
KEY_PLACE = "the variable GEMINI_API_KEY"
MODEL = "gemini-embedding-001"

_TOKENS = 2_048
_TASKS: dict[Purpose, str] = {"document": "RETRIEVAL_DOCUMENT", "query": "RETRIEVAL_QUERY"}


class GeminiEmbeddings:
    """Implements `EmbeddingService` over `:batchEmbedContents`.

    Vectors of fewer dimensions than the model's own do not have the length one.
    """

    history_threshold = 0.7
    code_threshold = 0.3
    weights = TRANSFORMER
    multilingual = True

    def __init__(
        self,
        key: str | None,
        model: str = MODEL,
        *,
        base_url: str = BASE_URL,
        dimension: int | None = None,
        max_texts: int = 100,
        key_place: str = KEY_PLACE,
        timeout_seconds: float = 120.0,
    ) -> None:
        """A `dimension` asks for shorter vectors. Raises SettingsError for an invalid base URL."""
        self._model = model.removeprefix("models/")
        self._asked_dimension = dimension
        self._provider = Provider(base_url, key, "x-goog-api-key: {}", key_place, timeout_seconds)
        known = self._model == MODEL
        self.dimension = dimension or (3_072 if known else None)
        usual = {"generativelanguage.googleapis.com": "gemini"}
        self.name = format_service_name(self._provider, usual, self._model, self.dimension)
        self.max_texts = min(max_texts, 100)  # the API refuses more
        self.max_chars = _TOKENS * CHARS_PER_TOKEN
        self.usd_per_million_tokens = 0.15 if known else None

    async def request(self, texts: Sequence[str], purpose: Purpose) -> Embedded:
        wanted: dict[str, Any] = {"model": f"models/{self._model}", "taskType": _TASKS[purpose]}
        if self._asked_dimension is not None:
            wanted["outputDimensionality"] = self._asked_dimension
        requests = [wanted | {"content": {"parts": [{"text": text}]}} for text in texts]
        path = f"v1beta/models/{quote(self._model, safe='')}:batchEmbedContents"
        said = await self._provider.post(path, {"requests": requests})
        host = self._provider.host
        found = said.get("embeddings") if isinstance(said, dict) else None
        if not isinstance(found, list):
            raise BadAnswer(f"{host} sent an answer without a list of embeddings")
        if len(found) != len(texts):
            raise BadAnswer(f"{host} sent {len(found)} embeddings for {len(texts)} texts")
        # They carry no index: the API promises the order of the requests.
        values = [item.get("values") if isinstance(item, dict) else None for item in found]
        vectors = check_vectors(values, self.dimension, host)
        return Embedded(vectors, count_of(said, "usageMetadata", "promptTokenCount"))

    async def close(self) -> None:
        await self._provider.close()
