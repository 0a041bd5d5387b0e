"""The brain in SQLite: projects, files, scopes."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from ragforge.adapters.stores.rows import (
    Row,
    file_of,
    file_row,
    project_of,
    project_row,
    scope_of,
    scope_row,
)
from ragforge.adapters.stores.sqlite import relations as relation_rows
from ragforge.adapters.stores.sqlite import vectors as vector_rows
from ragforge.adapters.stores.sqlite import words
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.directories import add_directories, prune_directories
from ragforge.adapters.stores.sqlite.sql import (
    Where,
    as_json,
    insert,
    one,
    select,
    upsert,
    value,
)
from ragforge.adapters.stores.sqlite.sql import (
    under as in_tree,
)
from ragforge.adapters.stores.sqlite.vectors import VectorSearch
from ragforge.domain.code import (
    SECTION,
    CodeFilter,
    Direction,
    Directory,
    File,
    ParsedFile,
    Place,
    Project,
    Relation,
    RelationKind,
    Scope,
)
from ragforge.domain.hits import Match
from ragforge.domain.text import check_text
from ragforge.domain.vectors import Vector
from ragforge.errors import DuplicateId, FileNotKnown, ProjectNotFound, ScopeNotFound
from ragforge.ports.code import ScopeVector
from ragforge.ports.words import Tokeniser


class SqliteCode:
    """Keeps the promises of `CodeStore`."""

    def __init__(self, database: Database, tokeniser: Tokeniser, vectors: VectorSearch) -> None:
        self._database = database
        self._tokeniser = tokeniser
        self._vectors = vectors

    async def save_project(self, project: Project) -> None:
        row = project_row(project)

        def work(connection: apsw.Connection) -> None:
            statement = "SELECT uuid FROM project WHERE path = ?"
            holder = value(connection, statement, (project.path,))
            if holder not in (None, project.uuid):
                raise DuplicateId("project", project.path)
            upsert(connection, "project", row, ["uuid"])

        await self._database.write(work)

    async def project(self, path: str) -> Project:
        check_text("path", path)
        statement = "SELECT * FROM project WHERE path = ?"
        row = await self._database.read(lambda c: one(c, statement, (path,)))
        if row is None:
            raise ProjectNotFound(path)
        return project_of(row)

    async def projects(self) -> list[Project]:
        statement = "SELECT * FROM project ORDER BY path"
        return await self._database.read(
            lambda c: [project_of(row) for row in select(c, statement)]
        )

    async def delete_project(self, project_id: str) -> None:
        def work(connection: apsw.Connection) -> None:
            _check_project(connection, project_id)
            connection.execute("DELETE FROM project WHERE uuid = ?", (project_id,))

        await self._database.write(work)

    async def replace_files(self, project_id: str, files: Sequence[ParsedFile]) -> None:
        def work(connection: apsw.Connection) -> None:
            _check_project(connection, project_id)
            for parsed in files:
                _replace(connection, project_id, parsed, self._tokeniser)
            add_directories(connection, project_id, [parsed.file.path for parsed in files])

        await self._database.write(work)

    async def remove_files(self, project_id: str, paths: Sequence[str]) -> None:
        def work(connection: apsw.Connection) -> None:
            _check_project(connection, project_id)
            connection.execute(
                """DELETE FROM file WHERE project_id = ?
                   AND path IN (SELECT value FROM json_each(?))""",
                (project_id, as_json(paths)),
            )
            prune_directories(connection, project_id, paths)

        await self._database.write(work)

    async def file(self, project_id: str, path: str) -> File:
        row = await self._database.read(lambda c: _file(c, project_id, path))
        if row is None:
            raise FileNotKnown(path)
        return file_of(row)

    async def files(self, project_id: str, under: str | None = None) -> list[File]:
        where = in_tree(Where().add("project_id = ?", project_id), "path", under)
        statement = f"SELECT * FROM file WHERE {where} ORDER BY path"
        return await self._database.read(
            lambda c: [file_of(row) for row in select(c, statement, where.bindings)]
        )

    async def directories(self, project_id: str) -> list[Directory]:
        statement = "SELECT path, name, uuid FROM directory WHERE project_id = ? ORDER BY path"
        return await self._database.read(
            lambda c: [Directory(*row) for row in c.execute(statement, (project_id,))]
        )

    async def scope(self, scope_id: str) -> Scope:
        found = await self.scopes([scope_id])
        if scope_id not in found:
            raise ScopeNotFound(scope_id)
        return found[scope_id]

    async def scopes(self, scope_ids: Sequence[str]) -> dict[str, Scope]:
        statement = "SELECT * FROM scope WHERE uuid IN (SELECT value FROM json_each(?))"
        ids = as_json(scope_ids)
        return await self._database.read(
            lambda c: {row["uuid"]: scope_of(row) for row in select(c, statement, (ids,))}
        )

    async def scopes_in(self, project_id: str, path: str) -> list[Scope]:
        statement = """SELECT * FROM scope WHERE project_id = ? AND file = ?
                       ORDER BY startLine, endLine DESC, uuid"""
        return await self._scopes(statement, (project_id, path))

    async def scopes_named(self, project_id: str, name: str) -> list[Scope]:
        statement = """SELECT * FROM scope
                       WHERE project_id = ?1 AND (name = ?2 OR qualified_name = ?2)
                       ORDER BY file, startLine, uuid"""
        return await self._scopes(statement, (project_id, name))

    async def scopes_at(self, project_id: str, places: Sequence[Place]) -> list[Scope | None]:
        statement = """
            SELECT * FROM scope
            WHERE project_id = ? AND file = ? AND startLine <= ? AND endLine >= ?
            ORDER BY endLine - startLine, startLine DESC, uuid LIMIT 1"""

        def work(connection: apsw.Connection) -> list[Scope | None]:
            found = []
            for place in places:
                bindings = (project_id, place.file, place.line, place.line)
                row = one(connection, statement, bindings)
                found.append(None if row is None else scope_of(row))
            return found

        return await self._database.read(work)

    async def relate(self, project_id: str, relations: Sequence[Relation]) -> None:
        def work(connection: apsw.Connection) -> None:
            _check_project(connection, project_id)
            relation_rows.add(connection, project_id, relations)

        await self._database.write(work)

    async def relations(
        self, node_id: str, direction: Direction, kinds: Sequence[RelationKind] | None = None
    ) -> list[Relation]:
        return await self._database.read(lambda c: relation_rows.of(c, node_id, direction, kinds))

    async def embed(self, vectors: Sequence[ScopeVector]) -> None:
        for item in vectors:
            check_text("embedding_hash", item.embedding_hash)

        def work(connection: apsw.Connection) -> None:
            owners = []
            for item in vectors:
                statement = "UPDATE scope SET embedding_hash = ? WHERE uuid = ? RETURNING id"
                owner = value(connection, statement, (item.embedding_hash, item.scope_id))
                if owner is None:
                    raise ScopeNotFound(item.scope_id)
                owners.append((owner, item.vector))
            vector_rows.put(connection, "scope", owners)

        await self._database.write(work)

    async def scopes_to_embed(self, project_id: str, model: str, limit: int) -> list[Scope]:
        statement = """
            SELECT * FROM scope s WHERE s.project_id = ? AND (
              s.embedding_hash IS NOT s.hash OR NOT EXISTS (
                SELECT 1 FROM vector v JOIN model m ON m.id = v.model
                WHERE v.kind = 'scope' AND v.owner = s.id AND m.name = ?))
            ORDER BY s.uuid LIMIT ?"""
        return await self._scopes(statement, (project_id, model, limit))

    async def by_words(self, query: str, where: CodeFilter, limit: int) -> list[Match]:
        wanted = self._tokeniser.query(query)
        conditions = _scopes(where)
        return await self._database.read(
            lambda c: words.search(c, "scope", "uuid", wanted, conditions, limit)
        )

    async def by_vector(
        self, vector: Vector, where: CodeFilter, limit: int, min_score: float = 0.0
    ) -> list[Match]:
        conditions = _scopes(where)
        return await self._database.read(
            lambda c: self._vectors.nearest(
                c, "scope", "uuid", vector, conditions, limit, min_score
            )
        )

    async def _scopes(self, statement: str, bindings: tuple[str | int, ...]) -> list[Scope]:
        return await self._database.read(
            lambda c: [scope_of(row) for row in select(c, statement, bindings)]
        )


def _replace(
    connection: apsw.Connection, project_id: str, parsed: ParsedFile, tokeniser: Tokeniser
) -> None:
    row = file_row(project_id, parsed.file)
    known = _file(connection, project_id, parsed.file.path)
    if known is not None and known["uuid"] != row["uuid"]:
        relation_rows.rename_file(connection, known["uuid"], row["uuid"])
    if known is None:
        insert(connection, "file", row)
    else:
        upsert(connection, "file", row, ["uuid"])
        connection.execute("DELETE FROM relation WHERE file_id = ?", (row["uuid"],))
    kept = as_json(scope.uuid for scope in parsed.scopes)
    connection.execute(
        """DELETE FROM scope WHERE file_id = ?
           AND uuid NOT IN (SELECT value FROM json_each(?))""",
        (row["uuid"], kept),
    )
    for scope in parsed.scopes:
        put_scope(connection, project_id, scope_row(row["uuid"], scope), tokeniser)


def put_scope(connection: apsw.Connection, project_id: str, row: Row, tokeniser: Tokeniser) -> None:
    """Store a scope with its words; what it was embedded from is the store's to know."""
    row = {**row, "project_id": project_id}
    del row["embedding_hash"]
    known = one(connection, "SELECT id, file_id FROM scope WHERE uuid = ?", (row["uuid"],))
    if known is None:
        rowid = insert(connection, "scope", row)
    elif known["file_id"] != row["file_id"]:
        raise DuplicateId("scope", row["uuid"])
    else:
        upsert(connection, "scope", row, ["uuid"])
        rowid = known["id"]
    index_scope(connection, rowid, row, tokeniser)


def index_scope(connection: apsw.Connection, rowid: int, row: Row, tokeniser: Tokeniser) -> None:
    texts = (
        f"{row['name']} {row['qualified_name']}",
        row["file"],
        row["signature"],
        row["docstring"],
        row["source"],
    )
    words.index(connection, "scope_words", rowid, *map(tokeniser.document, texts))


def _check_project(connection: apsw.Connection, project_id: str) -> None:
    check_text("project_id", project_id)
    if not value(connection, "SELECT 1 FROM project WHERE uuid = ?", (project_id,)):
        raise ProjectNotFound(project_id)


def _file(connection: apsw.Connection, project_id: str, path: str) -> Row | None:
    check_text("path", path)
    statement = "SELECT * FROM file WHERE project_id = ? AND path = ?"
    return one(connection, statement, (project_id, path))


def _scopes(where: CodeFilter) -> Where:
    conditions = Where().add("o.project_id = ?", where.project_id)
    conditions.add("o.type = ?" if where.sections else "o.type <> ?", SECTION)
    return in_tree(conditions, "o.file", where.under)
