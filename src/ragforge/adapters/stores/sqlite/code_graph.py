"""The code graph in SQLite: files with their scopes and relations, written, read and searched."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from ragforge.adapters.stores.sqlite import records, relations, scope_rows, words
from ragforge.adapters.stores.sqlite import relations as relation_rows
from ragforge.adapters.stores.sqlite import vectors as vector_rows
from ragforge.adapters.stores.sqlite.database import SqliteDatabase
from ragforge.adapters.stores.sqlite.filters import make_filter
from ragforge.adapters.stores.sqlite.relations import add_directories, prune_directories
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, add_under, as_json
from ragforge.adapters.stores.sqlite.vectors import VectorSearch
from ragforge.adapters.stores.sqlite.words import MANY_WORDS, CommonWords, pick_rarest, pick_telling
from ragforge.concurrency import call_in_thread, gather_or_cancel
from ragforge.domain.code import (
    SECTION,
    CodeFilter,
    FileFilter,
    FileLine,
    FileMark,
    ParsedFile,
    Relation,
    RelationFilter,
    Scope,
    ScopeMatch,
    ScopeMatches,
    ScopeName,
)
from ragforge.domain.kinds import CleanRow
from ragforge.domain.rows import EncodedFiles, encode_file_values, encode_files, redact_relations
from ragforge.domain.schema import FILE, SCOPE, SCOPE_NAME
from ragforge.domain.text import check_text
from ragforge.domain.vectors import Vector
from ragforge.errors import ProjectNotFound
from ragforge.ports.search_index import Tokeniser

_NAME = ", ".join(f"o.{column}" for column in SCOPE_NAME.read)
"""What is read of a scope that was found."""


class SqliteCodeGraph:
    """Implements `CodeGraph`."""

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
        statement = f"""
            SELECT f.path, count(*) FROM file f JOIN relation r
              ON r.target = f.id AND r.kind = {relation_rows.IMPORTS}
            WHERE f.project_id = ? AND f.path IN (SELECT value FROM json_each(?))
            GROUP BY f.path"""
        bindings = (project_id, as_json(paths))
        return await self._database.read(lambda c: dict(c.execute(statement, bindings)))

    async def replace_files(self, project_id: str, files: Sequence[ParsedFile]) -> None:
        last = list({parsed.file.path: parsed for parsed in files}.values())
        # Before the transaction, so that other processes can write meanwhile.
        rows = await call_in_thread(encode_files, project_id, last, self._database.redactor)

        def work(db: Connection) -> None:
            _check_project(db, project_id)
            _replace(db, project_id, rows, self._tokeniser)

        await self._database.write(work)

    async def remove_files(self, project_id: str, paths: Sequence[str]) -> None:
        def work(db: Connection) -> None:
            _check_project(db, project_id)
            db.execute(
                """DELETE FROM file WHERE project_id = ?
                   AND path IN (SELECT value FROM json_each(?))""",
                (project_id, as_json(paths)),
            )
            prune_directories(db, project_id, paths)

        await self._database.write(work)

    async def set_files(
        self,
        project_id: str,
        field: Literal["state", "mtime"],
        values: Mapping[str, str | datetime | None],
    ) -> None:
        rows = encode_file_values(field, values)

        def work(db: Connection) -> None:
            _check_project(db, project_id)
            set_column(db, project_id, field, rows)

        await self._database.write(work)

    async def file_marks(
        self, project_id: str, paths: Sequence[str] | None = None
    ) -> dict[str, FileMark]:
        # One row of lists: for each file, a row would cost more than what is in it.
        lists = ", ".join(f"json_group_array({name})" for name in ("path", *FileMark._fields))
        pages = False if paths is None else None
        where = make_filter(FILE, FileFilter(project_id, paths, pages=pages), None)
        statement = f"SELECT {lists} FROM file o WHERE {where}"

        def work(db: Connection) -> dict[str, FileMark]:
            [row] = db.execute(statement, where.bindings)
            found, *marks = map(json.loads, row)
            return dict(zip(found, map(FileMark._make, zip(*marks, strict=True)), strict=True))

        return await self._database.read(work)

    async def file_paths(self, project_id: str) -> list[str]:
        # One value with all paths: only the index is read, and no row costs a call.
        where = make_filter(FILE, FileFilter(project_id), None)
        statement = f"SELECT json_group_array(path) FROM file o WHERE {where}"
        found = await self._database.read(lambda c: c.value(statement, where.bindings))
        paths: list[str] = json.loads(found)
        return paths

    async def scopes_at(self, project_id: str, places: Sequence[FileLine]) -> list[Scope | None]:
        smallest = """
            SELECT (SELECT uuid FROM scope WHERE project_id = ?1 AND file = p.value ->> 0
                      AND startLine <= p.value ->> 1 AND endLine >= p.value ->> 1
                    ORDER BY endLine - startLine, startLine DESC, uuid LIMIT 1)
            FROM json_each(?2) p ORDER BY p.key"""
        asked = as_json((place.file, place.line) for place in places)

        def work(db: Connection) -> list[Scope | None]:
            ids = db.column(smallest, (project_id, asked))
            found = records.read_with_ids(db, SCOPE, filter(None, ids))
            return [found.get(uuid) for uuid in ids]

        return await self._database.read(work)

    async def relate_files(
        self, project_id: str, paths: Sequence[str], relations: Sequence[Relation], state: str
    ) -> None:
        states = encode_file_values("state", dict.fromkeys(paths, state))
        clean = redact_relations(relations, self._database.redactor)

        def work(db: Connection) -> None:
            _check_project(db, project_id)
            relation_rows.remove(db, project_id, paths)
            relation_rows.add(db, clean)
            set_column(db, project_id, "state", states)

        await self._database.write(work)

    async def relations(self, where: RelationFilter) -> list[Relation]:
        return await self._database.read(lambda c: relation_rows.read(c, where))

    async def copy_vectors(
        self, project_ids: Sequence[str], scope_ids: Sequence[str], model: str
    ) -> set[str]:
        check_text("model", model)
        return await self._database.write(
            lambda c: vector_rows.copy_of_same_scopes(c, project_ids, scope_ids, model)
        )


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


def _check_project(db: Connection, project_id: str) -> None:
    check_text("project_id", project_id)
    if not db.value("SELECT 1 FROM project WHERE uuid = ?", (project_id,)):
        raise ProjectNotFound(project_id)


def set_column(
    db: Connection, project_id: str, column: str, values: Mapping[str, str | None]
) -> None:
    """Set a column of files by path; unknown paths do nothing."""
    statement = f"UPDATE file SET {column} = ? WHERE project_id = ? AND path = ?"
    rows = [(value, project_id, path) for path, value in values.items()]
    db.executemany(statement, rows)


def _replace(db: Connection, project_id: str, encoded: EncodedFiles, tokeniser: Tokeniser) -> None:
    """Store files with exactly these scopes. Raises DuplicateId if another file has an id."""
    rows, scopes = encoded
    known = _find_known(db, project_id, [row["path"] for row in rows])
    new = [row for row in rows if row["path"] not in known]
    changed = [row for row in rows if row["path"] in known]
    if new:
        lists = [CleanRow({**row, "imports": json.dumps(row["imports"])}) for row in new]
        db.insert_many("file", tuple(new[0]), lists)
    for row in changed:
        if row["uuid"] != (uuid := known[row["path"]]):
            relations.rename_file(db, uuid, row["uuid"])
        db.upsert("file", row, ["uuid"])
    ids = [row["uuid"] for row in changed]
    if changed:
        relations.remove(db, project_id, [row["path"] for row in changed])
        _drop(db, ids, [scope["uuid"] for scope in scopes])
    scope_rows.put(db, project_id, scopes, scope_rows.read_of_files(db, ids), tokeniser)
    add_directories(db, project_id, [row["path"] for row in new])


def _find_known(db: Connection, project_id: str, paths: Sequence[str]) -> dict[str, str]:
    statement = """SELECT path, uuid FROM file
                   WHERE project_id = ? AND path IN (SELECT value FROM json_each(?))"""
    return dict(db.execute(statement, (project_id, as_json(paths))))


def _drop(db: Connection, file_ids: Sequence[str], kept: Sequence[str]) -> None:
    """Delete the scopes of files except those that are kept."""
    files = "file_id IN (SELECT value FROM json_each(?))"
    db.execute(
        f"DELETE FROM scope WHERE {files} AND uuid NOT IN (SELECT value FROM json_each(?))",
        (as_json(file_ids), as_json(kept)),
    )
    without = "NOT EXISTS (SELECT 1 FROM scope o WHERE o.file_id = file_text.file_id)"
    db.execute(f"DELETE FROM file_text WHERE {files} AND {without}", (as_json(file_ids),))
