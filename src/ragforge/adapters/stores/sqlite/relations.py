"""Relations: the edges between scopes, files and libraries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import apsw

from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, add_under, as_json
from ragforge.domain.code import Relation, RelationFilter, list_directories
from ragforge.domain.kinds import CleanRow
from ragforge.domain.text import check_id, check_text
from ragforge.errors import DuplicateId, FileNotKnown, NotFound, ScopeNotFound

_OF_FILES = """file_id IN (SELECT uuid FROM file WHERE project_id = :project
                           AND path IN (SELECT value FROM json_each(:files)))"""
_BETWEEN_SCOPES = ("HAS_PARENT", "CONSUMES", "INHERITS_FROM")


def add(db: Connection, project_id: str, relations: Sequence[Relation]) -> None:
    """Add relations. Raises ScopeNotFound or FileNotKnown if an end is unknown."""
    for relation in relations:
        check_id("relation.target", relation.target)
        check_text("relation.source", relation.source)
    scopes = [end for r in relations if r.kind in _BETWEEN_SCOPES for end in (r.source, r.target)]
    others = [r for r in relations if r.kind not in _BETWEEN_SCOPES]
    files = [r.source for r in others] + [r.target for r in others if r.kind != "USES_LIBRARY"]
    file_of_scope = _find_known(db, "SELECT uuid, file_id FROM scope", scopes, ScopeNotFound)
    file_of_file = _find_known(db, "SELECT uuid, uuid FROM file", files, FileNotKnown)
    db.executemany(
        """INSERT INTO relation (kind, source, target, project_id, file_id)
           VALUES (?, ?, ?, ?, ?) ON CONFLICT (source, kind, target) DO NOTHING""",
        [
            (
                r.kind,
                r.source,
                r.target,
                project_id,
                (file_of_scope if r.kind in _BETWEEN_SCOPES else file_of_file)[r.source],
            )
            for r in relations
        ],
    )


def _find_known(
    db: Connection, query: str, ids: Sequence[str], error: type[NotFound]
) -> dict[str, str]:
    """Return a query's result for each id. Raises the error for the first unknown one."""
    wanted = as_json(dict.fromkeys(ids))
    statement = f"{query} WHERE uuid IN (SELECT value FROM json_each(?))"
    found: dict[str, str] = dict(db.execute(statement, (wanted,)))
    for end in ids:
        if end not in found:
            raise error(end)
    return found


_LEAVE, _REACH = (f"{end} IN (SELECT value FROM json_each(:nodes))" for end in ("source", "target"))


def read(connection: apsw.Connection, where: RelationFilter) -> list[Relation]:
    """Return the relations that pass a filter, by kind, source and target."""
    for node in where.nodes or ():
        check_text("nodes", node)
    of_kinds = "" if where.kinds is None else "AND kind IN (SELECT value FROM json_each(:kinds))"
    ends = (_OF_FILES,) if where.nodes is None else (_LEAVE, _REACH)
    parts = [f"SELECT kind, source, target FROM relation WHERE {end} {of_kinds}" for end in ends]
    given = {
        "nodes": as_json(where.nodes or ()),
        "project": where.project_id,
        "files": as_json(where.files),
        "kinds": as_json(where.kinds or ()),
    }
    rows = connection.execute(f"{' UNION '.join(parts)} ORDER BY 1, 2, 3", given)
    return [Relation(*row) for row in rows]


def remove(db: Connection, project_id: str, paths: Sequence[str]) -> None:
    """Remove all relations that go out of files and their scopes."""
    given = {"project": project_id, "files": as_json(paths)}
    db.execute(f"DELETE FROM relation WHERE {_OF_FILES}", given)


def rename_file(db: Connection, old: str, new: str) -> None:
    """Give a file another id; its scopes and the relations that reach it follow.

    Raises DuplicateId if the id is taken.
    """
    if db.value("SELECT 1 FROM file WHERE uuid = ?", (new,)):
        raise DuplicateId("file", new)
    db.execute("UPDATE file SET uuid = ? WHERE uuid = ?", (new, old))
    db.execute("UPDATE relation SET target = ? WHERE target = ?", (new, old))


def add_directories(db: Connection, project_id: str, paths: Iterable[str]) -> None:
    """Store every directory above one of the files."""
    for directory in list_directories(project_id, paths):
        row = CleanRow({**asdict(directory), "project_id": project_id})
        db.upsert("directory", row, ["project_id", "path"])


def prune_directories(db: Connection, project_id: str, paths: Iterable[str]) -> None:
    """Remove directories that led to the files and hold none any more."""
    for directory in list_directories(project_id, paths):
        where = add_under(SqlFilter().add("project_id = ?", project_id), "path", directory.path)
        statement = f"SELECT 1 FROM file WHERE {where} LIMIT 1"
        if not db.value(statement, where.bindings):
            db.execute("DELETE FROM directory WHERE uuid = ?", (directory.uuid,))
