"""The brain in SQLite: projects, files, scopes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import apsw

from ragforge.adapters.stores.sqlite import file_rows, scope_rows
from ragforge.adapters.stores.sqlite import relations as relation_rows
from ragforge.adapters.stores.sqlite import vectors as vector_rows
from ragforge.adapters.stores.sqlite.code_search import NAME, ScopeSearch
from ragforge.adapters.stores.sqlite.directories import prune_directories
from ragforge.adapters.stores.sqlite.sql import (
    Where,
    as_json,
    select,
    select_column,
    select_value,
)
from ragforge.adapters.stores.sqlite.sql import (
    add_under as in_tree,
)
from ragforge.domain.code import (
    Direction,
    Directory,
    File,
    FileLine,
    FileMark,
    ParsedFile,
    Relation,
    RelationKind,
    Scope,
    ScopeName,
)
from ragforge.domain.rows import encode_file_time, encode_files, redact_relations
from ragforge.domain.schema import FILE, SCOPE
from ragforge.domain.text import check_text
from ragforge.errors import FileNotKnown, ProjectNotFound, ScopeNotFound
from ragforge.ports.code import ScopeVector

_NAMES = f"SELECT {NAME} FROM scope o"
_PAGE = "path GLOB 'http*://*'"
"""Web pages, by the path, which stands in the index: no file has an empty segment in its path."""
_ON_DISK = f"NOT {_PAGE}"
_TO_EMBED = """NOT EXISTS (
                 SELECT 1 FROM vector v JOIN model m ON m.id = v.model
                 WHERE v.kind = 'scope' AND v.owner = s.id AND m.name = ? AND v.hash IS s.hash)"""


class SqliteCode(ScopeSearch):
    """Keeps the promises of `CodeStore`."""

    async def change_state(self, project_id: str, old: str, new: str) -> bool:
        check_text("state", new)

        def work(connection: apsw.Connection) -> bool:
            statement = "UPDATE project SET state = ? WHERE uuid = ? AND state = ?"
            connection.execute(statement, (new, project_id, old))
            return connection.changes() > 0

        return await self._database.write(work)

    async def replace_files(self, project_id: str, files: Sequence[ParsedFile]) -> None:
        last = list({parsed.file.path: parsed for parsed in files}.values())
        # Before the transaction: others write meanwhile.
        rows = await asyncio.to_thread(encode_files, project_id, last, self._database.redactor)

        def work(connection: apsw.Connection) -> None:
            _check_project(connection, project_id)
            file_rows.replace(connection, project_id, rows, self._tokeniser)

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

    async def mark_files(self, project_id: str, paths: Sequence[str], state: str) -> None:
        check_text("state", state)

        def work(connection: apsw.Connection) -> None:
            _check_project(connection, project_id)
            file_rows.mark(connection, project_id, paths, state)

        await self._database.write(work)

    async def touch_files(self, project_id: str, times: Mapping[str, datetime | None]) -> None:
        rows = [(encode_file_time(time), project_id, path) for path, time in times.items()]

        def work(connection: apsw.Connection) -> None:
            _check_project(connection, project_id)
            statement = "UPDATE file SET mtime = ? WHERE project_id = ? AND path = ?"
            connection.executemany(statement, rows)

        await self._database.write(work)

    async def file(self, project_id: str, path: str) -> File:
        row = await self._database.read(lambda c: file_rows.read(c, project_id, path))
        if row is None:
            raise FileNotKnown(path)
        return FILE.decode(row)

    async def files(self, project_id: str, under: str | None = None) -> list[File]:
        where = in_tree(_in_project(project_id), "path", under)
        return await self._database.read(lambda c: file_rows.select_files(c, where))

    async def web_pages(self, project_id: str) -> list[File]:
        where = Where().add("project_id = ?", project_id).add(_PAGE)
        return await self._database.read(lambda c: file_rows.select_files(c, where))

    async def file_marks(
        self, project_id: str, paths: Sequence[str] | None = None
    ) -> dict[str, FileMark]:
        # One row of lists: for each file, a row would cost more than what is in it.
        lists = ", ".join(f"json_group_array({name})" for name in ("path", *FileMark._fields))
        where = Where().add("project_id = ?", project_id)
        if paths is None:
            where.add(_ON_DISK)
        else:
            where.add("path IN (SELECT value FROM json_each(?))", as_json(paths))
        statement = f"SELECT {lists} FROM file WHERE {where}"

        def work(connection: apsw.Connection) -> dict[str, FileMark]:
            [row] = connection.execute(statement, where.bindings)
            found, *marks = map(json.loads, row)
            return dict(zip(found, map(FileMark._make, zip(*marks, strict=True)), strict=True))

        return await self._database.read(work)

    async def file_paths(self, project_id: str) -> list[str]:
        # One value of all: the index alone is read, and no row costs a call.
        statement = f"SELECT json_group_array(path) FROM file WHERE project_id = ? AND {_ON_DISK}"
        found = await self._database.read(lambda c: select_value(c, statement, (project_id,)))
        paths: list[str] = json.loads(found)
        return paths

    async def count_files(self, project_id: str, state: str) -> int:
        statement = f"SELECT count(*) FROM file WHERE project_id = ? AND state = ? AND {_ON_DISK}"
        bindings = (project_id, state)
        return await self._database.read(lambda c: int(select_value(c, statement, bindings)))

    async def newest_files(self, project_id: str, limit: int) -> list[File]:
        where = _in_project(project_id)
        order = "mtime IS NOT NULL, mtime DESC, path"
        return await self._database.read(lambda c: file_rows.select_files(c, where, order, limit))

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
        return await self._database.read(lambda c: scope_rows.read_with_ids(c, scope_ids))

    async def scope_names(self, scope_ids: Sequence[str]) -> dict[str, ScopeName]:
        statement = f"{_NAMES} WHERE uuid IN (SELECT value FROM json_each(?))"
        ids = as_json(scope_ids)
        return await self._database.read(
            lambda c: {row[0]: ScopeName(*row) for row in c.execute(statement, (ids,))}
        )

    async def names_in(self, project_id: str, paths: Sequence[str]) -> list[ScopeName]:
        statement = f"""{_NAMES}
            WHERE project_id = ? AND file IN (SELECT value FROM json_each(?))
            ORDER BY file, startLine, endLine DESC, uuid"""
        bindings = (project_id, as_json(paths))
        return await self._database.read(
            lambda c: [ScopeName(*row) for row in c.execute(statement, bindings)]
        )

    async def scopes_in(self, project_id: str, *paths: str) -> list[Scope]:
        statement = f"""{scope_rows.SCOPES}
            WHERE project_id = ? AND file IN (SELECT value FROM json_each(?))
            ORDER BY file, startLine, endLine DESC, uuid"""
        return await self._scopes(statement, (project_id, as_json(paths)))

    async def scopes_named(
        self, project_id: str, names: Collection[str]
    ) -> dict[str, list[ScopeName]]:
        # Asked for in one condition, SQLite would read all scopes in the order of their files.
        statement = f"""
            {_NAMES} WHERE id IN (
              SELECT id FROM scope WHERE project_id = ?1 AND name = ?2 UNION
              SELECT id FROM scope WHERE project_id = ?1 AND qualified_name = ?2)
            ORDER BY file, startLine, uuid"""

        def work(connection: apsw.Connection) -> dict[str, list[ScopeName]]:
            found = {
                name: [ScopeName(*row) for row in connection.execute(statement, (project_id, name))]
                for name in names
            }
            return {name: scopes for name, scopes in found.items() if scopes}

        return await self._database.read(work)

    async def scopes_with_hash(self, project_id: str, hash: str) -> list[ScopeName]:
        statement = f"{_NAMES} WHERE project_id = ? AND hash = ? ORDER BY file, startLine, uuid"
        return await self._database.read(
            lambda c: [ScopeName(*row) for row in c.execute(statement, (project_id, hash))]
        )

    async def scopes_at(self, project_id: str, places: Sequence[FileLine]) -> list[Scope | None]:
        smallest = """
            SELECT (SELECT uuid FROM scope WHERE project_id = ?1 AND file = p.value ->> 0
                      AND startLine <= p.value ->> 1 AND endLine >= p.value ->> 1
                    ORDER BY endLine - startLine, startLine DESC, uuid LIMIT 1)
            FROM json_each(?2) p ORDER BY p.key"""
        asked = as_json((place.file, place.line) for place in places)

        def work(connection: apsw.Connection) -> list[Scope | None]:
            ids = select_column(connection, smallest, (project_id, asked))
            found = scope_rows.read_with_ids(connection, [uuid for uuid in ids if uuid is not None])
            return [found.get(uuid) for uuid in ids]

        return await self._database.read(work)

    async def relate_files(
        self, project_id: str, paths: Sequence[str], relations: Sequence[Relation], state: str
    ) -> None:
        check_text("state", state)
        clean = redact_relations(relations, self._database.redactor)

        def work(connection: apsw.Connection) -> None:
            _check_project(connection, project_id)
            connection.execute(
                """DELETE FROM relation WHERE file_id IN (
                     SELECT uuid FROM file WHERE project_id = ?
                     AND path IN (SELECT value FROM json_each(?)))""",
                (project_id, as_json(paths)),
            )
            relation_rows.add(connection, project_id, clean)
            file_rows.mark(connection, project_id, paths, state)

        await self._database.write(work)

    async def relations(
        self, node_id: str, direction: Direction, kinds: Sequence[RelationKind] | None = None
    ) -> list[Relation]:
        return await self._database.read(
            lambda c: relation_rows.read_relations(c, node_id, direction, kinds)
        )

    async def relations_from(self, project_id: str, paths: Sequence[str]) -> list[Relation]:
        return await self._database.read(
            lambda c: relation_rows.read_of_files(c, project_id, paths)
        )

    async def embed(self, vectors: Sequence[ScopeVector]) -> None:
        for item in vectors:
            check_text("embedding_hash", item.embedding_hash)

        def work(connection: apsw.Connection) -> None:
            wanted = as_json(item.scope_id for item in vectors)
            ids = "SELECT uuid, id FROM scope WHERE uuid IN (SELECT value FROM json_each(?))"
            owners: dict[str, int] = dict(connection.execute(ids, (wanted,)))
            for item in vectors:
                if item.scope_id not in owners:
                    raise ScopeNotFound(item.scope_id)
            new = [(owners[item.scope_id], item.vector) for item in vectors]
            hashes = {owners[item.scope_id]: item.embedding_hash for item in vectors}
            vector_rows.put(connection, "scope", new, hashes)

        await self._database.write(work)

    async def copy_vectors(
        self, project_ids: Sequence[str], scope_ids: Sequence[str], model: str
    ) -> set[str]:
        check_text("model", model)
        return await self._database.write(
            lambda c: vector_rows.copy_of_same_scopes(c, project_ids, scope_ids, model)
        )

    async def scopes_to_embed(
        self,
        project_id: str,
        model: str,
        limit: int,
        after: str = "",
        files: Sequence[str] | None = None,
    ) -> list[Scope]:
        # Without files all scopes are looked at in the order of their ids: hence the +.
        where = Where().add(
            "+s.project_id = ?" if files is None else "s.project_id = ?", project_id
        )
        if files is not None:
            where.add("s.file IN (SELECT value FROM json_each(?))", as_json(files))
        where.add(_TO_EMBED, model)
        where.add("s.id > coalesce((SELECT id FROM scope WHERE uuid = ?), 0)", after)
        statement = f"{scope_rows.SCOPES} WHERE {where} ORDER BY s.id LIMIT ?"
        return await self._scopes(statement, (*where.bindings, limit))

    async def count_scopes(self, project_id: str, model: str | None) -> tuple[int, int]:
        every = "SELECT count(*) FROM scope s WHERE s.project_id = ?"

        def work(connection: apsw.Connection) -> tuple[int, int]:
            total = select_value(connection, every, (project_id,))
            if model is None:
                return 0, total
            return select_value(connection, f"{every} AND {_TO_EMBED}", (project_id, model)), total

        return await self._database.read(work)

    async def _scopes(self, statement: str, bindings: tuple[str | int, ...]) -> list[Scope]:
        return await self._database.read(
            lambda c: [SCOPE.decode(row) for row in select(c, statement, bindings)]
        )


def _in_project(project_id: str) -> Where:
    return Where().add("project_id = ?", project_id).add(_ON_DISK)


def _check_project(connection: apsw.Connection, project_id: str) -> None:
    check_text("project_id", project_id)
    if not select_value(connection, "SELECT 1 FROM project WHERE uuid = ?", (project_id,)):
        raise ProjectNotFound(project_id)
