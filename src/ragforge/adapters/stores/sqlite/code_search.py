"""Code search in SQLite: finding scopes by words and by meaning."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragforge.adapters.stores.sqlite import scope_rows, words
from ragforge.adapters.stores.sqlite.database import SqliteDatabase
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, add_under, as_json
from ragforge.adapters.stores.sqlite.vectors import VectorSearch
from ragforge.adapters.stores.sqlite.words import MANY_WORDS, CommonWords, pick_rarest, pick_telling
from ragforge.concurrency import gather_or_cancel
from ragforge.domain.code import SECTION, CodeFilter, ScopeMatch, ScopeMatches, ScopeName
from ragforge.domain.schema import SCOPE_NAME
from ragforge.domain.vectors import Vector
from ragforge.ports.words import Tokeniser

_NAME = ", ".join(f"o.{column}" for column in SCOPE_NAME.read)
"""What is read of a scope that was found."""


class SqliteCodeSearch:
    """The part of `CodeGraph` that searches."""

    def __init__(
        self, database: SqliteDatabase, tokeniser: Tokeniser, vectors: VectorSearch
    ) -> None:
        self._database = database
        self._tokeniser = tokeniser
        self._vectors = vectors
        self._common = CommonWords("scope_vocabulary")

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
        near, nearest = near or where, limit if nearest is None else nearest
        held, close = await gather_or_cancel(
            self._find_by_words(query, where, limit), self._find_nearest(vector, near, nearest)
        )
        if where.sections:
            return ScopeMatches(held, close)
        near_files = {match.scope.file for match in close}
        files = near_files.union(match.scope.file for match in held)
        within = replace(where, files=tuple(near_files))
        in_them, importers = await gather_or_cancel(
            self._find_nearest(vector if near_files else None, within, inside),
            self.importers(where.project_id or "", list(files)),
        )
        return ScopeMatches(held, close, importers, in_them)

    async def _find_by_words(self, query: str, where: CodeFilter, limit: int) -> list[ScopeMatch]:
        wanted = self._tokeniser.query(query)
        if not wanted:
            return []
        conditions = _make_filter(where)
        table = scope_rows.pick_index(where.sections)

        def work(db: Connection) -> list[ScopeMatch]:
            if db.column("SELECT uuid FROM project LIMIT 2") == [where.project_id]:
                conditions.keys.clear()  # nothing to distinguish: the search is faster without
            some, few = (wanted, []) if where.sections else self._choose(db, wanted)
            found = words.search(db, table, "scope", _NAME, some, conditions, limit, few)
            return [_match(row) for row in found]

        return await self._database.read(work)

    def _choose(self, db: Connection, asked: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """Return the words to search for, and those without which a scope is not worth a look."""
        scopes = db.value("SELECT max(id) FROM scope") or 0  # counting them is slow
        counts = self._common.counts(db, asked, scopes)
        if len(counts) > MANY_WORDS:
            return pick_rarest(counts), []
        rare = pick_telling(counts, scopes)
        return asked, rare if len(rare) < len(counts) else []

    async def _find_nearest(
        self, vector: Vector | None, where: CodeFilter, limit: int
    ) -> list[ScopeMatch]:
        if vector is None or limit <= 0:
            return []
        conditions = _make_filter(where)
        found = await self._database.read(
            lambda c: self._vectors.nearest(c, "scope", _NAME, vector, conditions, limit, 0.0)
        )
        return [_match(row) for row in found]

    async def files_holding(self, project_id: str, names: Sequence[str]) -> set[str] | None:
        wanted = [self._tokeniser.query(name)[:1] for name in names]
        if not wanted or not all(wanted):
            return None if wanted else set()
        any_of = " OR ".join(f'"{word}"' for [word] in wanted)
        statement = """SELECT DISTINCT o.file FROM scope_words
                       CROSS JOIN scope o ON o.id = scope_words.rowid
                       WHERE scope_words MATCH ? AND o.project_id = ?"""
        bindings = (f"source : ({any_of})", project_id)
        return await self._database.read(lambda c: set(c.column(statement, bindings)))

    async def count_holding(
        self,
        project_id: str,
        asked: Mapping[str, Collection[str]],
        limit: int,
        documents: bool = False,
    ) -> dict[str, int]:
        tables = [scope_rows.pick_index(sections) for sections in {False, documents}]
        key = words.make_key("p", project_id)

        def count(db: Connection, some: Collection[str]) -> int:
            return sum(words.count(db, table, some, key, limit) for table in tables)

        def work(db: Connection) -> dict[str, int]:
            return {word: count(db, some) for word, some in asked.items()}

        return await self._database.read(work)

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


def _make_filter(where: CodeFilter) -> SqlFilter:
    conditions = SqlFilter().add("o.project_id = ?", where.project_id)
    if where.project_id is not None:
        conditions.keys.append([words.make_key("p", where.project_id)])
        conditions.keys_say_all = not (where.under or where.types or where.files)
    conditions.add("o.type = ?" if where.sections else "o.type <> ?", SECTION)
    if where.files:
        conditions.add("o.file IN (SELECT value FROM json_each(?))", as_json(where.files))
    if where.types:
        conditions.add("o.type IN (SELECT value FROM json_each(?))", as_json(where.types))
    return add_under(conditions, "o.file", where.under)
