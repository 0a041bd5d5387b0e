"""web_search: find pages of the web, with the user's permission and the user's own service."""

from __future__ import annotations

import re
from functools import partial
from html import unescape

from pydantic import Field

from ragforge.domain.text import Json, list_fields, shorten_end
from ragforge.errors import FetchFailed
from ragforge.llm.calls import Tool
from ragforge.ports.web import FoundPage, WebSearcher
from ragforge.records import dataclass
from ragforge.tools.fetch_url import TITLE_CHARS, drop_unseen, parse_address
from ragforge.tools.permission import PermissionRequest, Permit
from ragforge.tools.tool import Arguments, as_tool

MAX_QUERY_CHARS = 400
"""Services take no more."""
MAX_RESULTS = 10
SNIPPET_CHARS = 500
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


class WebSearchArguments(Arguments):
    """What web_search is called with."""

    query: str = Field(
        min_length=1, max_length=MAX_QUERY_CHARS, description="Words, as for a search engine"
    )
    max_results: int = Field(MAX_RESULTS, ge=1, le=MAX_RESULTS, description="How many pages")


@dataclass(frozen=True, slots=True)
class WebResults:
    """The pages that a service found."""

    query: str  # as it was sent
    service: str
    pages: tuple[FoundPage, ...]

    def to_json(self) -> Json:
        return {
            "query": self.query,
            "service": self.service,
            # Under separate keys: what a page says cannot look like a part of ours.
            "results": list_fields(self.pages),
        }


def make_web_search_tool(searcher: WebSearcher, permit: Permit) -> Tool:
    """Return web_search for a model; each search needs the user's permission."""
    return as_tool("web_search", WebSearchArguments, partial(search_web, searcher, permit=permit))


async def search_web(
    searcher: WebSearcher, given: WebSearchArguments, permit: Permit
) -> WebResults:
    """Return what the service finds; secrets in the query are replaced first.

    Raises FetchFailed, Declined.
    """
    from ragforge.memory.secrets.redact import redact  # its patterns take a while to compile

    query = " ".join(redact(given.query).split())
    await permit(
        PermissionRequest("web_search", searcher.host, f"SEARCH {query}", always=(searcher.host,))
    )
    found = await searcher.search(query, given.max_results)
    pages = (_clean(page) for page in found)
    return WebResults(query, searcher.host, tuple(page for page in pages if page is not None))


def _clean(page: FoundPage) -> FoundPage | None:
    """Return a page as plain text of limited length; None if it could not be fetched."""
    try:
        address = parse_address(page.url)
    except FetchFailed:
        return None
    return FoundPage(
        address.url, _to_line(page.title, TITLE_CHARS), _to_line(page.snippet, SNIPPET_CHARS)
    )


def _to_line(text: str, limit: int) -> str:
    return shorten_end(" ".join(drop_unseen(unescape(_TAG.sub("", text))).split()), limit)
