"""HTTP: embeddings from OpenAI, Gemini and servers that speak as OpenAI does.

A key is sent in a header and appears nowhere else: not in messages, not in chained errors.

Ollama, vLLM and llama.cpp speak as OpenAI does: give their address as `base_url`.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx2

from ragforge import errors
from ragforge.domain.text import Json, shorten_end
from ragforge.domain.vectors import TRANSFORMER
from ragforge.ports.models import Embedded, Purpose
from ragforge.records import dataclass

CHARS_PER_TOKEN = 3
"""Fewer than in prose, so that a text cut to a model's token limit usually fits."""

_CONNECT_SECONDS = 10.0
_SAID_CHARS = 300


class Provider:
    """A server with a JSON API and an optional key."""

    def __init__(
        self, base_url: str, key: str | None, key_header: str, key_place: str, seconds: float
    ) -> None:
        """`key_header` is the header with a "{}" for the key, `key_place` where a user sets it.

        Raises SettingsError for an address that cannot be one.
        """
        self._url = _parse_address(base_url)
        self._key = (key or "").strip()
        self._key_header = key_header
        self._key_place = key_place
        self._seconds = seconds
        self._client: httpx2.AsyncClient | None = None

    @property
    def host(self) -> str:
        """The host, with its port where that is not the usual one."""
        return self._url.netloc.decode("ascii")

    async def post(self, path: str, body: Json) -> Json:
        """Send JSON and return the JSON that comes back.

        Raises what `EmbeddingService.request` raises.
        """
        # A lone surrogate cannot be encoded as UTF-8: send "?" instead of failing.
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        headers = {"Content-Type": "application/json", **self._key_headers()}
        address = f"{str(self._url).rstrip('/')}/{path}"
        try:
            async with asyncio.timeout(self._seconds):
                response = await self._open().post(address, content=content, headers=headers)
        except (TimeoutError, httpx2.TimeoutException) as error:
            message = f"{self.host} did not answer within {self._seconds:g} seconds"
            raise errors.ModelUnavailable(message) from error
        except httpx2.DecodingError as error:
            raise errors.BadAnswer(f"{self.host} sent an answer that cannot be unpacked") from error
        except httpx2.RequestError as error:
            reason = str(error) or type(error).__name__
            raise errors.ModelUnavailable(f"{self.host} cannot be reached: {reason}") from error
        said = _parse_json(response.content)
        if not response.is_success:
            raise self._failure(response, said)
        if said is None:
            raise errors.BadAnswer(f"{self.host} sent an answer that is not JSON")
        return said

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _open(self) -> httpx2.AsyncClient:
        if self._client is None:
            timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS)
            try:
                self._client = httpx2.AsyncClient(timeout=timeout)
            except (OSError, ValueError, ImportError, httpx2.InvalidURL) as error:
                # The environment names missing certificates or an unusable proxy.
                message = f"No connection to {self.host} can be set up: {error}"
                raise errors.ModelMissing(message) from error
        return self._client

    def _key_headers(self) -> dict[str, str]:
        if not self._key:
            return {}
        # Checked here, because the HTTP library's error would quote the key.
        if not (self._key.isascii() and self._key.isprintable()):
            raise errors.KeyRejected(
                f"The key for {self.host} contains invalid characters. Set {self._key_place}."
            )
        name, _, value = self._key_header.partition(": ")
        return {name: value.format(self._key)}

    def _failure(self, response: httpx2.Response, said: Json) -> errors.ModelError:
        status = response.status_code
        words = self._words(response, said)
        if status == 401 or _is_bad_key(said):
            # Without its message: some providers repeat a part of the key.
            fault = "rejects the key" if self._key else "wants a key"
            return errors.KeyRejected(f"{self.host} {fault}. Set {self._key_place}.")
        if status == 403:
            return errors.KeyRejected(f"{self.host} forbids this{words}. Check {self._key_place}.")
        wait = _retry_after(response.headers, said)
        if status == 429:
            return errors.ModelBusy(f"{self.host} accepts no more requests for now{words}", wait)
        if status == 503 and wait is not None:
            return errors.ModelBusy(f"{self.host} is overloaded{words}", wait)
        if status >= 500 or status == 408:
            return errors.ModelUnavailable(f"{self.host} fails with HTTP {status}{words}")
        return errors.RequestRefused(f"{self.host} refuses the request with HTTP {status}{words}")

    def _words(self, response: httpx2.Response, said: Json) -> str:
        """Return the provider's error message after a colon, shortened and printable."""
        text = _find_message(said) if said is not None else response.text
        if text.lstrip().startswith("<"):  # a proxy's HTML page has no message in its first lines
            return ""
        if self._key:
            text = text.replace(self._key, "***")
        text = "".join(char if char.isprintable() else " " for char in text)
        text = shorten_end(" ".join(text.split()), _SAID_CHARS)
        return f": {text}" if text else ""


def format_service_name(
    provider: Provider, usual: Mapping[str, str], model: str, size: int | None
) -> str:
    """Return a name from the model, its host unless that is the `usual` one, and the dimension."""
    maker = usual.get(provider.host, provider.host)
    return f"{maker}/{model}" if size is None else f"{maker}/{model}@{size}"


def check_vectors(vectors: Sequence[object], size: int | None, host: str) -> list[list[float]]:
    """Return the vectors of an answer.

    Raises BadAnswer for one that is not a list of finite numbers, or has another dimension.
    """
    kept: list[list[float]] = []
    for vector in vectors:
        if not isinstance(vector, list) or not vector or not _are_finite(vector):
            raise errors.BadAnswer(f"{host} sent a vector that is not a list of finite numbers")
        size = len(vector) if size is None else size
        if len(vector) != size:
            raise errors.BadAnswer(
                f"{host} sent a vector of {len(vector)} dimensions, not of {size}"
            )
        kept.append(vector)
    return kept


def count_of(said: Json, *path: str) -> int:
    """Return the number of tokens at a path of keys; 0 where there is none."""
    for key in path:
        said = said.get(key) if isinstance(said, dict) else None
    return said if type(said) is int and said > 0 else 0


def _are_finite(numbers: list[object]) -> bool:
    if not set(map(type, numbers)) <= {int, float}:
        return False
    try:
        return all(map(math.isfinite, numbers))  # type: ignore[arg-type]  # checked above
    except OverflowError:
        return False


def _parse_address(base_url: str) -> httpx2.URL:
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in {"http", "https"} or not url.host:
        # The address is not repeated: it may hold a password.
        raise errors.SettingsError(
            "The address of the embedding service must begin with http:// or https:// "
            "and name a host: embeddings.base_url"
        )
    return url


def _parse_json(content: bytes) -> Json:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _find_message(said: Json) -> str:
    """Find the message in an error of OpenAI, Google, Ollama or FastAPI."""
    for _ in range(4):  # as deep as any of them is nested
        if isinstance(said, list):
            said = said[0] if said else None
        elif isinstance(said, dict):
            keys = [key for key in ("error", "message", "msg", "detail") if key in said]
            said = said[keys[0]] if keys else None
    return said if isinstance(said, str) else ""


def _list_details(said: Json) -> list[dict[str, object]]:
    """Return the details of Google's errors; others have none."""
    said = said[0] if isinstance(said, list) and said else said
    error = said.get("error") if isinstance(said, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    return [each for each in details if isinstance(each, dict)] if isinstance(details, list) else []


def _is_bad_key(said: Json) -> bool:
    # Google answers a bad key with 400, like a bad request.
    return any(detail.get("reason") == "API_KEY_INVALID" for detail in _list_details(said))


def _retry_after(headers: httpx2.Headers, said: Json) -> float | None:
    """Return the seconds that the provider asks to wait."""
    if (given := headers.get("Retry-After")) is not None:
        seconds = _parse_seconds(given)
        return seconds if seconds is not None else _parse_date(given)
    for detail in _list_details(said):
        if isinstance(delay := detail.get("retryDelay"), str):
            return _parse_seconds(delay.removesuffix("s"))
    return None


def _parse_seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _parse_date(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0)


OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY_PLACE = "the variable OPENAI_API_KEY"


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
        base_url: str = OPENAI_URL,
        dimension: int | None = None,
        max_texts: int = 256,
        max_tokens: int | None = None,
        key_place: str = OPENAI_KEY_PLACE,
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
        raise errors.BadAnswer(f"{host} sent an answer without a list of embeddings")
    if len(data) != count:
        raise errors.BadAnswer(f"{host} sent {len(data)} embeddings for {count} texts")
    found: dict[int, object] = {}
    for item in data:
        index = item.get("index") if isinstance(item, dict) else None
        if type(index) is not int or not 0 <= index < count or index in found:
            raise errors.BadAnswer(f"{host} sent embeddings whose indices are not 0 to {count - 1}")
        found[index] = item.get("embedding")
    return [found[index] for index in range(count)]


GEMINI_URL = "https://generativelanguage.googleapis.com"
GEMINI_KEY_PLACE = "the variable GEMINI_API_KEY"
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
        base_url: str = GEMINI_URL,
        dimension: int | None = None,
        max_texts: int = 100,
        key_place: str = GEMINI_KEY_PLACE,
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
            raise errors.BadAnswer(f"{host} sent an answer without a list of embeddings")
        if len(found) != len(texts):
            raise errors.BadAnswer(f"{host} sent {len(found)} embeddings for {len(texts)} texts")
        # They carry no index: the API promises the order of the requests.
        values = [item.get("values") if isinstance(item, dict) else None for item in found]
        vectors = check_vectors(values, self.dimension, host)
        return Embedded(vectors, count_of(said, "usageMetadata", "promptTokenCount"))

    async def close(self) -> None:
        await self._provider.close()
