"""Where notes live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ragforge.domain.hits import Match
from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.vectors import Vector


class NoteStore(Protocol):
    """Notes of projects. Each write is one transaction."""

    async def add(self, note: Note) -> None:
        """Store a note.

        Raises DuplicateId if its id is taken, NoteNotFound if it supersedes one that is unknown.
        """

    async def get(self, note_id: str) -> Note:
        """Raises NoteNotFound if the id is unknown."""

    async def with_ids(self, note_ids: Sequence[str]) -> dict[str, Note]:
        """Return id → note; unknown ids are left out."""

    async def starting_with(self, prefix: str, limit: int = 10) -> list[Note]:
        """Return notes whose id starts so, by id."""

    async def find(self, where: NoteFilter, limit: int = 50, offset: int = 0) -> list[Note]:
        """Return notes, the newest first, ties by id."""

    async def delete(self, note_id: str, force: bool = False) -> None:
        """Delete a note with its vector and index entries; one that it superseded is found again.

        Raises NoteNotFound, and NotAuthor if it is somebody else's, unless forced.
        """

    async def embed(self, vectors: Mapping[str, Vector]) -> None:
        """Set the vectors of notes. Raises NoteNotFound, DimensionMismatch."""

    async def to_embed(self, model: str, limit: int) -> list[str]:
        """Return the ids of notes without a vector of this model, oldest first."""

    async def by_words(self, query: str, where: NoteFilter, limit: int) -> list[Match]:
        """Return notes that hold any of the query's words, best first. Filters come first."""

    async def by_vector(
        self, vector: Vector, where: NoteFilter, limit: int, min_score: float = 0.0
    ) -> list[Match]:
        """Return the nearest notes of the vector's model. Filters come before the limit."""

    async def by_words_and_vector(
        self,
        query: str,
        vector: Vector | None,
        where: NoteFilter,
        limit: int,
        min_score: float = 0.0,
    ) -> tuple[list[Match], list[Match], dict[str, Note]]:
        """Return what `by_words` and `by_vector` do, and those notes by id.

        A server is asked once instead of three times. Without a vector, words alone are searched.
        """
