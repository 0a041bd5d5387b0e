"""OpenAI: embeddings from OpenAI and from every server that speaks as it does.

Ollama, vLLM and llama.cpp do: give their address as `base_url`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragforge.adapters.embedders.http import (
    CHARS_PER_TOKEN,
    Provider,
    check_vectors,
    count_of,
    format_service_name,
)
from ragforge.domain.text import Json
from ragforge.domain.vectors import TRANSFORMER
from ragforge.errors import BadAnswer
from ragforge.ports.models import Embedded, Purpose
from ragforge.records import dataclass

BASE_URL = "https://api.openai.com/v1"
KEY_PLACE = "the variable OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class _Model:
    """What must be known about a model beforehand. The thresholds are estimates, not measured."""

    dimension: int | None = None
    usd: float | None = None  # a million tokens
    tokens: int = 8_191
    history: float = 0.6
    code: float = 0.5
    multilingual: bool = True


_OTHER = _Model(multilingual=False)  # many local models know only English
_KNOWN = {
    "text-embedding-3-small": _Model(1_536, 0.02),
    "text-embedding-3-large": _Model(3_072, 0.13),
    # Its vectors lie close together: texts without any relation score 0.85.
    "text-embedding-ada-002": _Model(1_536, 0.10, history=0.89, code=0.87),
}


class OpenAiEmbeddings:
    """Implements `EmbeddingService` over `POST {base_url}/embeddings`."""

    def __init__(
        self,
        model: str,
        key: str | None = None,
        *,
        base_url: str = BASE_URL,
        dimension: int | None = None,
        max_texts: int = 256,
        max_tokens: int | None = None,
        key_place: str = KEY_PLACE,
        timeout_seconds: float = 120.0,
    ) -> None:
        """A `dimension` asks for shorter vectors, of models that can.

        Raises SettingsError for an invalid base URL.
        """
        known = _KNOWN.get(model, _OTHER)
        self._model = model
        self._asked_dimension = dimension
        self._provider = Provider(
            base_url, key, "Authorization: Bearer {}", key_place, timeout_seconds
        )
        self.dimension = dimension or known.dimension
        self.name = format_service_name(
            self._provider, {"api.openai.com": "openai"}, model, self.dimension
        )
        self.max_texts = max_texts
        self.max_chars = (max_tokens or known.tokens) * CHARS_PER_TOKEN
        self.usd_per_million_tokens = known.usd
        self.history_threshold = known.history
        self.code_threshold = known.code
        self.weights = TRANSFORMER
        self.multilingual = known.multilingual or "multilingual" in model.lower()

    async def request(self, texts: Sequence[str], purpose: Purpose) -> Embedded:
        body: dict[str, Any] = {
            "model": self._model,
            "input": list(texts),
            "encoding_format": "float",
        }
        if self._asked_dimension is not None:
            body["dimensions"] = self._asked_dimension
        said = await self._provider.post("embeddings", body)
        host = self._provider.host
        vectors = check_vectors(_sort_by_index(said, len(texts), host), self.dimension, host)
        return Embedded(vectors, count_of(said, "usage", "prompt_tokens"))

    async def close(self) -> None:
        await self._provider.close()


def _sort_by_index(said: Json, count: int, host: str) -> list[object]:
    """Return the vectors by their index: servers may answer in the order they were done."""
    data = said.get("data") if isinstance(said, dict) else None
    if not isinstance(data, list):
        raise BadAnswer(f"{host} sent an answer without a list of embeddings")
    if len(data) != count:
        raise BadAnswer(f"{host} sent {len(data)} embeddings for {count} texts")
    found: dict[int, object] = {}
    for item in data:
        index = item.get("index") if isinstance(item, dict) else None
        if type(index) is not int or not 0 <= index < count or index in found:
            raise BadAnswer(f"{host} sent embeddings whose indices are not 0 to {count - 1}")
        found[index] = item.get("embedding")
    return [found[index] for index in range(count)]
