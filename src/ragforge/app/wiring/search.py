"""Search: the service that searches the web, as the user chose it."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.adapters.web.search import open_brave, open_searxng, open_tavily
from ragforge.config.services import SEARCH_KEYS, explain_search_key, find_search_key
from ragforge.config.settings import ToolSettings
from ragforge.domain.web import FoundPage
from ragforge.errors import FetchFailed
from ragforge.ports.web import WebSearcher
from ragforge.records import dataclass

NO_ADDRESS = "A search with SearXNG needs the address of a server: set tools.web_search.url."


@dataclass(frozen=True, slots=True)
class UnusableSearcher:
    """A service that lacks its key or its address: the first search says so."""

    problem: str

    @property
    def host(self) -> str:
        raise FetchFailed(self.problem)

    async def search(self, query: str, limit: int) -> Sequence[FoundPage]:
        raise FetchFailed(self.problem)


def open_searcher(settings: ToolSettings) -> WebSearcher | None:
    """Return the service of the settings, or None where there is none."""
    service, url = settings.web_search.service, settings.web_search.url
    if service == "off":
        return None
    seconds = settings.fetch.seconds
    if service == "searxng":
        return open_searxng(url, seconds) if url else UnusableSearcher(NO_ADDRESS)
    key = find_search_key(service)
    if not key:
        why = f"A search with {service} needs a key: {explain_search_key(service)}."
        return UnusableSearcher(why)
    variable = SEARCH_KEYS[service]
    if service == "brave":
        return open_brave(key, url, seconds, variable)
    return open_tavily(key, url, seconds, variable)
