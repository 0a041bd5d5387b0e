"""The code graph: the files of checkouts, their scopes and their relations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

from ragforge.domain.code import (
    CodeFilter,
    FileLine,
    FileMark,
    ParsedFile,
    Relation,
    RelationFilter,
    Scope,
    ScopeMatches,
)
from ragforge.domain.vectors import Vector


class CodeGraph(Protocol):
    """Operations on code; projects, files and scopes are read with `Records`.

    Each write is one transaction.
    """

    async def replace_files(self, project_id: str, files: Sequence[ParsedFile]) -> None:
        """Store files with exactly these scopes; directories are created as needed.

        A scope that keeps its id keeps its vector, and the relations that point to it.
        Relations that go out of a replaced file or its scopes are dropped.
        Raises ProjectNotFound, DuplicateId if another file has an id.
        """

    async def remove_files(self, project_id: str, paths: Sequence[str]) -> None:
        """Remove files with all that was derived from them; unknown paths do nothing.

        Directories left empty go too. Raises ProjectNotFound.
        """

    async def set_files(
        self,
        project_id: str,
        field: Literal["state", "mtime"],
        values: Mapping[str, str | datetime | None],
    ) -> None:
        """Set the state or the time of files by path; unknown paths do nothing.

        Raises ProjectNotFound.
        """

    async def file_marks(
        self, project_id: str, paths: Sequence[str] | None = None
    ) -> dict[str, FileMark]:
        """Return for every file, by path, what shows whether it must be read again.

        Web pages are not among them. With `paths`, of these files and web pages; unknown ones
        are left out.
        """

    async def file_paths(self, project_id: str) -> list[str]:
        """Return the path of every file except web pages, in any order; there may be very many."""

    async def scopes_at(self, project_id: str, places: Sequence[FileLine]) -> list[Scope | None]:
        """Return for each place the smallest scope that contains it, or None."""

    async def relate_files(
        self, project_id: str, paths: Sequence[str], relations: Sequence[Relation], state: str
    ) -> None:
        """Replace the outgoing relations of these files and their scopes, and set their state.

        Unknown paths do nothing. Raises ProjectNotFound, and ScopeNotFound or FileNotKnown
        if an end is unknown.
        """

    async def relations(self, where: RelationFilter) -> list[Relation]:
        """Return the relations that pass a filter, by kind, source and target.

        Those of nodes are those that leave any of them and those that reach any.
        """

    async def importers(self, project_id: str, paths: Sequence[str]) -> Mapping[str, int]:
        """Return how many files import each of these; those that none imports are left out."""

    async def copy_vectors(
        self, project_ids: Sequence[str], scope_ids: Sequence[str], model: str
    ) -> set[str]:
        """Copy to scopes the vectors that this model made of the same text in other projects.

        The same text has a scope with the same file, qualified name, type and hash. Returns the
        ids of the scopes that got a vector; unknown ones do nothing.
        """

    async def search(
        self,
        query: str,
        vector: Vector | None,
        where: CodeFilter,
        limit: int,
        near: CodeFilter | None = None,
        nearest: int | None = None,
        inside: int = 0,
    ) -> ScopeMatches:
        """Return scopes that hold any of the query's words, and the nearest of the vector's model.

        Each best first. An empty query, or no vector, leaves one of both out. Filters come before
        limits; `near` and `nearest` are those of the search by meaning, where they differ. Both
        filters are of one project and directory. `inside` is how many of the nearest scopes are
        returned of the files found by meaning: those pass the filter of words. Of code, importers
        of the files are counted. It is one request to a server. Raises DimensionMismatch.
        """

    async def files_holding(self, project_id: str, names: Sequence[str]) -> set[str] | None:
        """Return the paths of files whose code contains one of these names.

        Others may be among them whose names have the same words. None if the tokeniser finds
        no words in a name: then any file may hold it.
        """

    async def count_holding(
        self,
        project_id: str,
        asked: Mapping[str, Collection[str]],
        limit: int,
        documents: bool = False,
    ) -> Mapping[str, int]:
        """Return how many scopes of a project's code hold each word, counted up to a limit.

        `asked` has the words of the index for each: a scope that holds any of them counts. With
        `documents` their sections are counted too, up to the same.
        """
