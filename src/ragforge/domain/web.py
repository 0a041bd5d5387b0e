"""Web pages: what was read at an address, as text."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from ragforge.records import dataclass

PageLanguage: TypeAlias = Literal["markdown", "text", "json"]


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of the web as readable text."""

    url: str  # where it was found in the end, after redirects
    title: str
    text: str
    language: PageLanguage
    fetched_at: datetime
    is_cut: bool = False  # the page is longer than what was read of it
