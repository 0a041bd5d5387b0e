"""The search index: find items by words and by vectors, and turn text into these words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import Match, WordMatches
from ragforge.domain.kinds import Data, Filter, Kind
from ragforge.domain.vectors import Vector

WordCounts: TypeAlias = Mapping[str, Mapping[str, int]]
"""How often each word occurs in each file that has any."""
COUNTED_WORDS = 20
"""How many words of a question are counted, the most specific first."""
CountWords: TypeAlias = Callable[[Sequence[str], Sequence[str]], Awaitable[WordCounts]]
"""Counts words in files of a project: it takes paths and stems of words."""


class Tokeniser(Protocol):
    """Turns text into words, the same way for every engine."""

    version: str
    """Changes whenever the words do: stores then index their texts again."""

    def __hash__(self) -> int: ...

    def document(self, text: str) -> str:
        """Return the words to index, separated by single spaces.

        Words hold letters and digits only, in any script.
        """

    def prose(self, text: str) -> str:
        """Return the words to index of conversations, in any language.

        All words of `document` are among them.
        """

    def query(self, text: str) -> list[str]:
        """Return the distinct words to search for, the most specific first."""


class Found(NamedTuple, Generic[Data]):
    """Matches by words and by meaning, each best first, and the items by their ids."""

    by_words: Sequence[Match] = ()
    by_vector: Sequence[Match] = ()
    items: Mapping[str, Data] = {}


class SearchIndex(Protocol):
    """The words and vectors of conversations, turns, summaries and notes; the vectors of scopes.

    A turn is known by the id of its user message. `CodeGraph` searches scopes.
    """

    async def embed(
        self,
        kind: Kind[Any, Any],
        vectors: Mapping[str, Vector],
        hashes: Mapping[str, str] | None = None,
    ) -> None:
        """Set the vectors of items, replacing older ones; of a conversation, that of its summary.

        `hashes` are those of the texts that the vectors of scopes were made of.
        Raises a NotFound for an unknown id, NotAuthor for another author's, DimensionMismatch.
        """

    async def pending(
        self,
        kind: Kind[Any, Filter],
        model: str,
        limit: int | None = None,
        where: Filter | None = None,
    ) -> list[str]:
        """Return the items the viewer may change without a vector of this model, oldest first.

        Scopes, in a fixed order: those without one for their present hash.
        """

    async def count_pending(
        self, kind: Kind[Any, Filter], model: str | None, where: Filter | None = None
    ) -> tuple[int, int]:
        """Return how many such items have no vector of this model, and how many there are.

        Without a model only all are counted: that is fast.
        """

    async def search(
        self,
        kind: Kind[Data, Filter],
        query: str,
        vector: Vector | None,
        where: Filter,
        limit: int,
        min_score: float = 0.0,
        read: int | None = None,
    ) -> Found[Data]:
        """Return items that hold any of the query's words, and the nearest of the vector's model.

        An empty query, or no vector, leaves one of both out. Filters come before the limit. All
        that are found are read, or the first `read` of each. It is one request to a server.
        Raises DimensionMismatch.
        """

    async def match_turns(
        self,
        query: str,
        where: MemoryFilter,
        limit: int,
        reach: int,
        vector: Vector | None = None,
        nearest: int = 0,
        min_score: float = 0.0,
    ) -> tuple[WordMatches, list[Match]]:
        """Return the best turns by words with their neighbours, and the nearest by meaning.

        Those up to `reach` before and after the best are returned too, the newest first, each
        with the words of the query that it contains. Of many words only the rarest are searched
        for; the others are listed as too common. Turns that do not pass the filter are neither
        found nor neighbours. `nearest` is the limit of the search by meaning, which is left out
        without a vector. It is one request to a server.
        """
