"""Code search in SQLite: finding scopes by words and by meaning."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import apsw

from ragforge.adapters.stores.sqlite import scope_rows, words
from ragforge.adapters.stores.sqlite.common_words import (
    MANY_WORDS,
    CommonWords,
    pick_rarest,
    pick_telling,
)
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.sql import (
    Where,
    add_under,
    as_json,
    select_column,
    select_value,
)
from ragforge.adapters.stores.sqlite.vectors import VectorSearch
from ragforge.concurrency import gather_or_cancel
from ragforge.domain.code import SECTION, CodeFilter, ScopeMatch, ScopeMatches, ScopeName
from ragforge.domain.vectors import Vector
from ragforge.ports.words import Tokeniser

NAME = """o.uuid, o.name, o.qualified_name, o.type, o.file, o.startLine, o.endLine,
           o.signature"""
"""What is read of a scope that was found."""


class ScopeSearch:
    """The part of `CodeStore` that searches."""

    def __init__(self, database: Database, tokeniser: Tokeniser, vectors: VectorSearch) -> None:
        self._database = database
        self._tokeniser = tokeniser
        self._vectors = vectors
        self._common = CommonWords("scope_vocabulary")

    async def by_words(self, query: str, where: CodeFilter, limit: int) -> list[ScopeMatch]:
        wanted = self._tokeniser.query(query)
        conditions = _make_filter(where)
        table = scope_rows.pick_index(where.sections)

        def work(connection: apsw.Connection) -> list[ScopeMatch]:
            if select_column(connection, "SELECT uuid FROM project LIMIT 2") == [where.project_id]:
                conditions.keys.clear()  # nothing to tell apart: the search is shorter without
            some, few = (wanted, []) if where.sections else self._choose(connection, wanted)
            found = words.search(connection, table, "scope", NAME, some, conditions, limit, few)
            return [_match(row) for row in found]

        return await self._database.read(work)

    def _choose(
        self, connection: apsw.Connection, asked: Sequence[str]
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Return the words to search for, and those without which a scope is not worth a look."""
        scopes = (
            select_value(connection, "SELECT max(id) FROM scope") or 0
        )  # to count them takes a while
        counts = self._common.counts(connection, asked, scopes)
        if len(counts) > MANY_WORDS:
            return pick_rarest(counts), []
        rare = pick_telling(counts, scopes)
        return asked, rare if len(rare) < len(counts) else []

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
        held, close = await gather_or_cancel(
            self.by_words(query, where, limit), self._find_near(vector, near, nearest)
        )
        if where.sections:
            return ScopeMatches(held, close)
        near_files = {match.scope.file for match in close}
        files = near_files.union(match.scope.file for match in held)
        in_them, importers = await gather_or_cancel(
            self._find_inside(vector, where, near_files, inside),
            self.importers(where.project_id or "", list(files)),
        )
        return ScopeMatches(held, close, importers, in_them)

    async def _find_inside(
        self, vector: Vector | None, where: CodeFilter, files: Collection[str], limit: int
    ) -> list[ScopeMatch]:
        if not files or limit <= 0:
            return []
        return await self._find_near(vector, replace(where, files=tuple(files)), limit)

    async def _find_near(
        self, vector: Vector | None, where: CodeFilter, limit: int
    ) -> list[ScopeMatch]:
        return [] if vector is None else await self.by_vector(vector, where, limit)

    async def files_holding(self, project_id: str, names: Sequence[str]) -> set[str] | None:
        wanted = [self._tokeniser.query(name)[:1] for name in names]
        if not wanted or not all(wanted):
            return None if wanted else set()
        any_of = " OR ".join(f'"{word}"' for [word] in wanted)
        statement = """SELECT DISTINCT o.file FROM scope_words
                       CROSS JOIN scope o ON o.id = scope_words.rowid
                       WHERE scope_words MATCH ? AND o.project_id = ?"""
        bindings = (f"source : ({any_of})", project_id)
        return await self._database.read(lambda c: set(select_column(c, statement, bindings)))

    async def known_words(self, project_id: str, asked: Sequence[str]) -> set[str]:
        table = scope_rows.pick_index(sections=False)
        key = words.make_key("p", project_id)

        def work(connection: apsw.Connection) -> set[str]:
            return {
                word
                for word in asked
                if words.are_there(connection, table, self._tokeniser.query(word), key)
            }

        return await self._database.read(work)

    async def count_holding(
        self, project_id: str, asked: Sequence[str], most: int
    ) -> dict[str, int]:
        table = scope_rows.pick_index(sections=False)
        key = words.make_key("p", project_id)

        def work(connection: apsw.Connection) -> dict[str, int]:
            return {
                word: words.count(connection, table, self._tokeniser.query(word), key, most)
                for word in asked
            }

        return await self._database.read(work)

    async def by_vector(
        self, vector: Vector, where: CodeFilter, limit: int, min_score: float = 0.0
    ) -> list[ScopeMatch]:
        conditions = _make_filter(where)
        found = await self._database.read(
            lambda c: self._vectors.nearest(c, "scope", NAME, vector, conditions, limit, min_score)
        )
        return [_match(row) for row in found]

    async def importers(self, project_id: str, paths: Sequence[str]) -> Mapping[str, int]:
        statement = """
            SELECT f.path, count(*) FROM file f JOIN relation r
              ON r.target = f.uuid AND r.kind = 'IMPORTS'
            WHERE f.project_id = ? AND f.path IN (SELECT value FROM json_each(?))
            GROUP BY f.path"""
        bindings = (project_id, as_json(paths))
        return await self._database.read(lambda c: dict(c.execute(statement, bindings)))


def _match(row: tuple[Any, ...]) -> ScopeMatch:
    return ScopeMatch(ScopeName(*row[:-1]), row[-1])


def _make_filter(where: CodeFilter) -> Where:
    conditions = Where().add("o.project_id = ?", where.project_id)
    if where.project_id is not None:
        conditions.keys.append([words.make_key("p", where.project_id)])
        conditions.keys_say_all = not (where.under or where.types or where.files)
    conditions.add("o.type = ?" if where.sections else "o.type <> ?", SECTION)
    if where.files:
        conditions.add("o.file IN (SELECT value FROM json_each(?))", as_json(where.files))
    if where.types:
        conditions.add("o.type IN (SELECT value FROM json_each(?))", as_json(where.types))
    return add_under(conditions, "o.file", where.under)
