"""HTTP: one request to an embedding service, and every way it can fail.

A key is sent in a header and appears nowhere else: not in messages, not in chained errors.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2

from ragforge.domain.text import Json, shorten_end
from ragforge.errors import (
    BadAnswer,
    KeyRejected,
    ModelBusy,
    ModelError,
    ModelMissing,
    ModelUnavailable,
    RequestRefused,
    SettingsError,
)

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
            raise ModelUnavailable(message) from error
        except httpx2.DecodingError as error:
            raise BadAnswer(f"{self.host} sent an answer that cannot be unpacked") from error
        except httpx2.RequestError as error:
            reason = str(error) or type(error).__name__
            raise ModelUnavailable(f"{self.host} cannot be reached: {reason}") from error
        said = _parse_json(response.content)
        if not response.is_success:
            raise self._failure(response, said)
        if said is None:
            raise BadAnswer(f"{self.host} sent an answer that is not JSON")
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
                raise ModelMissing(message) from error
        return self._client

    def _key_headers(self) -> dict[str, str]:
        if not self._key:
            return {}
        # Checked here, because the HTTP library's error would quote the key.
        if not (self._key.isascii() and self._key.isprintable()):
            raise KeyRejected(
                f"The key for {self.host} contains invalid characters. Set {self._key_place}."
            )
        name, _, value = self._key_header.partition(": ")
        return {name: value.format(self._key)}

    def _failure(self, response: httpx2.Response, said: Json) -> ModelError:
        status = response.status_code
        words = self._words(response, said)
        if status == 401 or _is_bad_key(said):
            # Without its message: some providers repeat a part of the key.
            fault = "rejects the key" if self._key else "wants a key"
            return KeyRejected(f"{self.host} {fault}. Set {self._key_place}.")
        if status == 403:
            return KeyRejected(f"{self.host} forbids this{words}. Check {self._key_place}.")
        wait = _retry_after(response.headers, said)
        if status == 429:
            return ModelBusy(f"{self.host} accepts no more requests for now{words}", wait)
        if status == 503 and wait is not None:
            return ModelBusy(f"{self.host} is overloaded{words}", wait)
        if status >= 500 or status == 408:
            return ModelUnavailable(f"{self.host} fails with HTTP {status}{words}")
        return RequestRefused(f"{self.host} refuses the request with HTTP {status}{words}")

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
            raise BadAnswer(f"{host} sent a vector that is not a list of finite numbers")
        size = len(vector) if size is None else size
        if len(vector) != size:
            raise BadAnswer(f"{host} sent a vector of {len(vector)} dimensions, not of {size}")
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
        raise SettingsError(
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
