"""Web pages: the text at an address, and what a search finds."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

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
