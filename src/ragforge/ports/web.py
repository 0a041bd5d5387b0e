"""Web pages: read the text at an address, search for pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from ragforge.records import dataclass

PageLanguage: TypeAlias = Literal["markdown", "text", "json"]


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that a search found."""

    url: str
    title: str
    snippet: str  # some of its text


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of the web as readable text."""

    url: str  # after redirects
    title: str
    text: str
    language: PageLanguage
    fetched_at: datetime
    is_cut: bool = False  # only the beginning of the page was read


@dataclass(frozen=True, slots=True)
class WebResponse:
    """The response of an address: a body, or a redirect."""

    status: int
    content_type: str = ""  # as the header has it
    body: bytes = b""
    is_cut: bool = False  # the body is longer than this
    location: str | None = None  # of a redirect, as the header has it


class WebReader(Protocol):
    """Reads one address of the public web."""

    async def get(self, url: str) -> WebResponse:
        """Request an address without following redirects.

        The body is decompressed, and no longer than a limit. Only addresses of the public
        internet are connected to, unless the user allows a host. Raises FetchFailed.
        """


class WebSearcher(Protocol):
    """A service that searches the web."""

    @property
    def host(self) -> str:
        """The host that a query is sent to. Raises FetchFailed if the service cannot be used."""
        ...

    async def search(self, query: str, limit: int) -> Sequence[FoundPage]:
        """Return pages, the best first, and no more than the limit. Raises FetchFailed."""
        ...
