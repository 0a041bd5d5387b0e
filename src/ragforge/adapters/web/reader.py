"""Reader: one request over HTTP, to an address that was checked before, or to a search service."""

from __future__ import annotations

import asyncio
import json
import socket
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from ragforge.domain.text import Json
from ragforge.errors import FetchFailed
from ragforge.ports.web import FoundPage, WebResponse
from ragforge.records import dataclass

if TYPE_CHECKING:
    from httpx2 import URL, AsyncClient, Request, Response

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the IP addresses of a host. Raises OSError if it has none."""
FindProxy: TypeAlias = Callable[[str, str], str | None]
"""Returns the address of the proxy for a scheme and a host, or None."""

HEADERS = {
    "User-Agent": "ragforge (a coding agent; a user asked for this page)",
    "Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8",
    "Accept-Encoding": "gzip",
}
REDIRECTS = (301, 302, 303, 307, 308)
_GZIP = 16 + zlib.MAX_WBITS


_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32"),
            *("169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24"),
            *("192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
            *("224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16"),
            "3fff::/20",
        ),
    )
)
"""The special-purpose registries of IANA, whole: what `is_global` says depends on the version of
Python. No site is in 2001::/23, although parts of it are reachable. 168.63.129.16 is a service of a
cloud to its own machines. IPv6 has further ones, all outside of its global unicast addresses."""
EVERY_HOST = "*"


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the IP addresses of a host, as this machine knows them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def find_proxy(scheme: str, host: str) -> str | None:
    """Return the proxy of the user's environment or system for a host, or None."""
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    return proxy if proxy and not proxy_bypass(host) else None


@dataclass(frozen=True, slots=True)
class HttpReader:
    """Implements `WebReader`."""

    max_bytes: int
    seconds: float
    private_hosts: Sequence[str] = ()
    resolve: Resolve = resolve
    find_proxy: FindProxy = find_proxy

    async def get(self, url: str) -> WebResponse:
        import httpx2

        host = urlsplit(url).hostname or url
        try:
            async with asyncio.timeout(self.seconds):
                return await self._get(url)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise FetchFailed(
                f"{host} did not send the page within {self.seconds:g} seconds "
                "(tools.fetch.seconds)."
            ) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, ImportError) as error:
            why = str(error) or type(error).__name__
            raise FetchFailed(f"{host} cannot be read: {why}") from error

    async def _get(self, url: str) -> WebResponse:
        import httpx2

        place = httpx2.URL(url)
        port = place.port or (443 if place.scheme == "https" else 80)
        proxy = self.find_proxy(place.scheme, place.host)
        addresses = await self._check(place.host, port, proxy is not None)
        # No cookies, no .netrc, no redirects: one request that says nothing about the user. The
        # user's own authorities (SSL_CERT_FILE) count all the same.
        async with httpx2.AsyncClient(
            trust_env=False,
            verify=httpx2.create_ssl_context(),
            timeout=self.seconds,
            proxy=proxy,
            follow_redirects=False,
        ) as client:
            if proxy is not None:  # it looks up the name itself
                return await self._send(client, client.build_request("GET", url, headers=HEADERS))
            *others, last = addresses
            for address in others:
                try:
                    return await self._send(client, self._build(client, place, address))
                except httpx2.ConnectError:
                    continue
            return await self._send(client, self._build(client, place, last))

    async def _check(self, host: str, port: int, by_proxy: bool) -> Sequence[str]:
        """Return the addresses of a host, all of which may be connected to. Raises FetchFailed."""
        host = host.rstrip(".").lower()
        allowed = is_allowed_host(host, port, self.private_hosts)
        try:
            addresses = await self.resolve(host, port)
        except OSError as error:
            if allowed and by_proxy:
                return ()
            hint = (
                " Your proxy might know it, but what it leads to cannot be checked here: "
                "tools.fetch.private_hosts allows it by name."
                if by_proxy
                else ""
            )
            raise FetchFailed(f"No address is known for {host}.{hint}") from error
        private = [address for address in addresses if not is_public(address)]
        if private and not allowed:
            raise FetchFailed(
                f"{host} is not on the public internet: it leads to {private[0]}. Only the user "
                "can allow it, with the setting tools.fetch.private_hosts."
            )
        if not addresses:
            raise FetchFailed(f"No address is known for {host}.")
        return addresses

    def _build(self, client: AsyncClient, place: URL, address: str) -> Request:
        """Return the request to an address that was checked; the name is used for all else.

        The name is not looked up again: its owner could have another answer by then.
        """
        headers = {**HEADERS, "Host": place.netloc.decode("ascii")}
        return client.build_request(
            "GET",
            place.copy_with(host=address),
            headers=headers,
            extensions={"sni_hostname": place.host},
        )

    async def _send(self, client: AsyncClient, request: Request) -> WebResponse:
        response = await client.send(request, stream=True)
        try:
            status, headers = response.status_code, response.headers
            content_type = headers.get("content-type", "")
            if status in REDIRECTS and "location" in headers:
                return WebResponse(status, location=headers["location"])
            if status != 200:
                return WebResponse(status, content_type)
            body, is_cut = await self._read(response)
            return WebResponse(status, content_type, body, is_cut)
        finally:
            await response.aclose()

    async def _read(self, response: Response) -> tuple[bytes, bool]:
        """Return the body up to the limit, and whether there is more.

        A small body may unfold to gigabytes, so it is never decompressed beyond the limit.
        """
        coding = response.headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("identity", "gzip", "x-gzip", ""):
            raise FetchFailed(f"The page is compressed in a way that is not known here: {coding}.")
        unpack = zlib.decompressobj(_GZIP) if "gzip" in coding else None
        body = bytearray()
        async for chunk in response.aiter_raw():
            room = self.max_bytes + 1 - len(body)
            try:
                body += chunk[:room] if unpack is None else unpack.decompress(chunk, room)
            except zlib.error as error:
                raise FetchFailed("The page is compressed, and the data are damaged.") from error
            if len(body) > self.max_bytes:
                return bytes(body[: self.max_bytes]), True
        return bytes(body), False


def is_public(address: str) -> bool:
    """Tell whether an IP address is one of the public internet.

    It is not if it is of this machine, a private network, a link, a group, reserved, or a way
    to write one of these as IPv6.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        found = _find_embedded(found) or found
    if isinstance(found, IPv6Address) and found not in _GLOBAL_UNICAST:
        return False
    return not any(found in network for network in _NOT_PUBLIC)


def _find_embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address is translated to."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped


def is_allowed_host(host: str, port: int, allowed: Sequence[str]) -> bool:
    """Tell whether the user allows a host by name, such as `wiki.corp`, `wiki.corp:8080` or
    `*.corp`; `*` is every host.
    """
    return any(
        one in (EVERY_HOST, host, f"{host}:{port}")
        or (one.startswith("*.") and host.endswith(one[1:]))
        for one in (entry.lower().replace("[", "").replace("]", "") for entry in allowed)
    )


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
