"""Where the brain lives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from ragforge.domain.code import (
    CodeFilter,
    Direction,
    Directory,
    File,
    FileLine,
    FileMark,
    ParsedFile,
    Relation,
    RelationKind,
    Scope,
    ScopeMatch,
    ScopeMatches,
    ScopeName,
)
from ragforge.domain.vectors import Vector
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class ScopeVector:
    """A scope's vector and the hash of the text that it was made of."""

    scope_id: str
    vector: Vector
    embedding_hash: str


class CodeStore(Protocol):
    """Projects, directories, files, scopes and relations. Each write is one transaction."""

    async def change_state(self, project_id: str, old: str, new: str) -> bool:
        """Give a checkout a new state if it is still in the old one; return whether it was."""

    async def replace_files(self, project_id: str, files: Sequence[ParsedFile]) -> None:
        """Store files with exactly these scopes; directories follow.

        A scope that keeps its id keeps its vector, and the relations that point to it.
        Relations that go out of a replaced file or its scopes are dropped.
        Raises ProjectNotFound, DuplicateId if another file has an id.
        """

    async def remove_files(self, project_id: str, paths: Sequence[str]) -> None:
        """Remove files with all that was derived from them; unknown paths do nothing.

        Directories left empty go too. Raises ProjectNotFound.
        """

    async def mark_files(self, project_id: str, paths: Sequence[str], state: str) -> None:
        """Set the state of files; unknown paths do nothing. Raises ProjectNotFound."""

    async def touch_files(self, project_id: str, times: Mapping[str, datetime | None]) -> None:
        """Set the times of files by path; unknown paths do nothing. Raises ProjectNotFound."""

    async def file(self, project_id: str, path: str) -> File:
        """Raises FileNotKnown."""

    async def files(self, project_id: str, under: str | None = None) -> list[File]:
        """Return files by path; `under` is a directory or file, whole segments only.

        Web pages are not among them, nor in the lists and counts of files below.
        """

    async def web_pages(self, project_id: str) -> list[File]:
        """Return the web pages that were stored for a project, by address."""

    async def file_marks(
        self, project_id: str, paths: Sequence[str] | None = None
    ) -> dict[str, FileMark]:
        """Return of every file, by path, what tells whether it must be looked at.

        With `paths`, of these files and web pages; unknown ones are left out.
        """

    async def file_paths(self, project_id: str) -> list[str]:
        """Return the path of every file, in any order; there may be very many."""

    async def count_files(self, project_id: str, state: str) -> int:
        """Return how many files are in a state."""

    async def newest_files(self, project_id: str, limit: int) -> list[File]:
        """Return files, those without a time first, then the latest changed."""

    async def directories(self, project_id: str) -> list[Directory]:
        """Return the directories that hold files, by path; the project's own is not one."""

    async def scope(self, scope_id: str) -> Scope:
        """Raises ScopeNotFound."""

    async def scopes(self, scope_ids: Sequence[str]) -> dict[str, Scope]:
        """Return scopes by id; unknown ids are left out."""

    async def scope_names(self, scope_ids: Sequence[str]) -> dict[str, ScopeName]:
        """Return the names and places of scopes by id; unknown ids are left out."""

    async def names_in(self, project_id: str, paths: Sequence[str]) -> list[ScopeName]:
        """Return the names of all scopes in these files, by file and line, outer first."""

    async def scopes_in(self, project_id: str, *paths: str) -> list[Scope]:
        """Return the scopes of files, by file and line, outer before inner."""

    async def scopes_named(
        self, project_id: str, names: Collection[str]
    ) -> dict[str, list[ScopeName]]:
        """Return the scopes with each of these names or qualified names, by file and line.

        A name that no scope has is left out.
        """

    async def scopes_with_hash(self, project_id: str, hash: str) -> list[ScopeName]:
        """Return those of the scopes with this content, by file and line."""

    async def scopes_at(self, project_id: str, places: Sequence[FileLine]) -> list[Scope | None]:
        """Return for each place the smallest scope that contains it, or None."""

    async def relate_files(
        self, project_id: str, paths: Sequence[str], relations: Sequence[Relation], state: str
    ) -> None:
        """Replace all that goes out of these files and their scopes, and set their state.

        Unknown paths do nothing. Raises ProjectNotFound, and ScopeNotFound or FileNotKnown
        if an end is unknown.
        """

    async def relations(
        self,
        node_id: str,
        direction: Direction,
        kinds: Sequence[RelationKind] | None = None,
    ) -> list[Relation]:
        """Return the relations of a scope, file or library, by kind, source and target."""

    async def relations_from(self, project_id: str, paths: Sequence[str]) -> list[Relation]:
        """Return all that goes out of files and their scopes, by kind, source and target."""

    async def importers(self, project_id: str, paths: Sequence[str]) -> Mapping[str, int]:
        """Return how many files import each of these; those that none imports are left out."""

    async def embed(self, vectors: Sequence[ScopeVector]) -> None:
        """Set the vectors of scopes. Raises ScopeNotFound, DimensionMismatch."""

    async def copy_vectors(
        self, project_ids: Sequence[str], scope_ids: Sequence[str], model: str
    ) -> set[str]:
        """Give scopes the vectors that this model made of the same text in other projects.

        The same text has a scope with the same file, qualified name, type and hash. Returns the
        ids of the scopes that got a vector; unknown ones do nothing.
        """

    async def scopes_to_embed(
        self,
        project_id: str,
        model: str,
        limit: int,
        after: str = "",
        files: Sequence[str] | None = None,
    ) -> list[Scope]:
        """Return scopes without a vector of this model for their present hash, in a fixed order.

        With `after`, the id of one of them, those that come after it alone; with `files`,
        those in files with these paths alone.
        """

    async def count_scopes(self, project_id: str, model: str | None) -> tuple[int, int]:
        """Return how many scopes have no vector of this model for their present hash, of all.

        Without a model only all are counted: that is fast.
        """

    async def by_words(self, query: str, where: CodeFilter, limit: int) -> list[ScopeMatch]:
        """Return scopes that hold any of the query's words, best first. Filters come first."""

    async def files_holding(self, project_id: str, names: Sequence[str]) -> set[str] | None:
        """Return the paths of files in whose code one of these names stands.

        Others may be among them whose names have the same words. None if the tokeniser finds
        no words in a name: then any file may hold it.
        """

    async def known_words(self, project_id: str, asked: Sequence[str]) -> set[str]:
        """Return which of the words `by_words` would find something for in a project's code."""

    async def count_holding(
        self, project_id: str, asked: Sequence[str], most: int
    ) -> Mapping[str, int]:
        """Return how many scopes of a project's code hold each word, counted up to `most`."""

    async def by_vector(
        self, vector: Vector, where: CodeFilter, limit: int, min_score: float = 0.0
    ) -> list[ScopeMatch]:
        """Return the nearest scopes of the vector's model. Filters come before the limit."""

    async def by_words_and_vector(
        self,
        query: str,
        where: CodeFilter,
        limit: int,
        vector: Vector | None,
        near: CodeFilter,
        nearest: int,
        inside: int = 0,
    ) -> ScopeMatches:
        """Return what `by_words`, `by_vector` and `importers` do, in one request to a server.

        `near` and `nearest` are the filter and the limit of the search by meaning; without a
        vector, words alone are searched. Both filters are of one project and directory. `inside`
        is how many scopes are returned of the files found by meaning, as `by_vector` finds
        them with the filter of words.
        """
