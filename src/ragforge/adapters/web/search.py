"""Search: the services that search the web, each with its own wire format."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from ragforge.adapters.web.reader import find_proxy
from ragforge.domain.text import Json
from ragforge.errors import FetchFailed
from ragforge.ports.web import FoundPage
from ragforge.records import dataclass

MAX_BYTES = 5_000_000
_PROBLEM_CHARS = 200

Ask: TypeAlias = Callable[["SearchService", str, int], dict[str, Any]]
"""Returns the parts of the request for a query and a number of results."""
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True)
class SearchService:
    """A service that searches the web. Implements `WebSearcher`."""

    address: str  # of the service, which the user chose
    seconds: float
    make_request: Ask
    find_results: Callable[[Json], object]
    text_name: str  # of the field with the text of a result
    hint: str  # what a refusal may mean
    key: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    async def search(self, query: str, limit: int) -> Sequence[FoundPage]:
        answer = await self._ask(query, limit)
        results = self.find_results(answer)
        if not isinstance(results, list):
            raise FetchFailed(f"{self.host} answers with something else than results.")
        pages = [one for one in results if isinstance(one, dict) and one.get("url")]
        return [
            FoundPage(
                str(one["url"]), str(one.get("title") or ""), str(one.get(self.text_name) or "")
            )
            for one in pages[:limit]
        ]

    async def _ask(self, query: str, limit: int) -> Json:
        import httpx2

        try:
            async with asyncio.timeout(self.seconds):
                status, body = await self._send(self.make_request(self, query, limit))
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise FetchFailed(
                f"{self.host} did not answer within {self.seconds:g} seconds (tools.fetch.seconds)."
            ) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, ImportError) as error:
            why = str(error) or type(error).__name__
            raise FetchFailed(f"{self.host} cannot be asked: {why}") from error
        try:
            answer: Json = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if status != 200:
            why = " ".join(_find_problem(answer).split())[:_PROBLEM_CHARS]
            said = f"{self.host} refused the search: {status}{f', {why}' if why else ''}."
            raise FetchFailed(f"{said} {self.hint}".strip() if status in (401, 403) else said)
        return answer

    async def _send(self, request: dict[str, Any]) -> tuple[int, bytes]:
        import httpx2

        url = httpx2.URL(request["url"])
        # No cookies, no .netrc, and no redirects: the key goes to the chosen address only.
        async with httpx2.AsyncClient(
            trust_env=False,
            verify=httpx2.create_ssl_context(),
            timeout=self.seconds,
            proxy=find_proxy(url.scheme, url.host),
            follow_redirects=False,
        ) as client:
            body = bytearray()
            async with client.stream(**request) as response:
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > MAX_BYTES:
                        raise ValueError(f"the answer is longer than {MAX_BYTES:,} bytes")
                return response.status_code, bytes(body)


def open_brave(key: str, address: str | None, seconds: float, variable: str) -> SearchService:
    """Return the API of Brave Search."""

    def ask(service: SearchService, query: str, limit: int) -> dict[str, Any]:
        return {
            "method": "GET",
            "url": f"{service.address}/res/v1/web/search",
            "params": {"q": query, "count": limit},
            "headers": {**_HEADERS, "X-Subscription-Token": service.key},
        }

    return SearchService(
        (address or "https://api.search.brave.com").rstrip("/"),
        seconds,
        ask,
        _find_in_brave,
        "description",
        f"Is the key in {variable} right?",
        key,
    )


def _find_in_brave(answer: Json) -> Json:
    """Return the results of an answer; one without pages has no part for them."""
    if isinstance(answer, dict) and "web" not in answer:
        return []
    return _get(answer, "web", "results")


def open_tavily(key: str, address: str | None, seconds: float, variable: str) -> SearchService:
    """Return the API of Tavily."""

    def ask(service: SearchService, query: str, limit: int) -> dict[str, Any]:
        return {
            "method": "POST",
            "url": f"{service.address}/search",
            "json": {"query": query, "max_results": limit},
            "headers": {**_HEADERS, "Authorization": f"Bearer {service.key}"},
        }

    return SearchService(
        (address or "https://api.tavily.com").rstrip("/"),
        seconds,
        ask,
        lambda answer: _get(answer, "results"),
        "content",
        f"Is the key in {variable} right?",
        key,
    )


def open_searxng(address: str, seconds: float) -> SearchService:
    """Return a SearXNG server, which needs no key."""

    def ask(service: SearchService, query: str, limit: int) -> dict[str, Any]:
        return {
            "method": "GET",
            "url": f"{service.address}/search",
            "params": {"q": query, "format": "json"},
            "headers": _HEADERS,
        }

    return SearchService(
        address.rstrip("/"),
        seconds,
        ask,
        lambda answer: _get(answer, "results"),
        "content",
        "Its settings must list json under search.formats.",
    )


def _get(answer: Json, *names: str) -> Json:
    """Return a value deep in an answer, or None."""
    for name in names:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer


def _find_problem(answer: Json) -> str:
    """Return what a service says against a search, where it says so."""
    for names in (("error", "detail"), ("detail", "error"), ("detail",), ("error",), ("message",)):
        if isinstance(found := _get(answer, *names), str):
            return found
    return ""
