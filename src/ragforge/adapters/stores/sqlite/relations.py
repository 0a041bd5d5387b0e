"""Relations: the edges between scopes, files and libraries."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from ragforge.adapters.stores.sqlite.sql import Where, as_json, select_value
from ragforge.domain.code import Direction, Relation, RelationKind
from ragforge.domain.text import check_id, check_text
from ragforge.errors import DuplicateId, FileNotKnown, NotFound, ScopeNotFound

_BETWEEN_SCOPES = ("HAS_PARENT", "CONSUMES", "INHERITS_FROM")


def add(connection: apsw.Connection, project_id: str, relations: Sequence[Relation]) -> None:
    """Add relations. Raises ScopeNotFound or FileNotKnown if an end is unknown."""
    for relation in relations:
        check_id("relation.target", relation.target)
        check_text("relation.source", relation.source)
    scopes = [end for r in relations if r.kind in _BETWEEN_SCOPES for end in (r.source, r.target)]
    others = [r for r in relations if r.kind not in _BETWEEN_SCOPES]
    files = [r.source for r in others] + [r.target for r in others if r.kind != "USES_LIBRARY"]
    file_of_scope = _find_known(
        connection, "SELECT uuid, file_id FROM scope", scopes, ScopeNotFound
    )
    file_of_file = _find_known(connection, "SELECT uuid, uuid FROM file", files, FileNotKnown)
    connection.executemany(
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
    connection: apsw.Connection, query: str, ids: Sequence[str], error: type[NotFound]
) -> dict[str, str]:
    """Return what a query tells of each id. Raises the error for the first unknown one."""
    wanted = as_json(dict.fromkeys(ids))
    statement = f"{query} WHERE uuid IN (SELECT value FROM json_each(?))"
    found: dict[str, str] = dict(connection.execute(statement, (wanted,)))
    for end in ids:
        if end not in found:
            raise error(end)
    return found


def read_relations(
    connection: apsw.Connection,
    node_id: str,
    direction: Direction,
    kinds: Sequence[RelationKind] | None,
) -> list[Relation]:
    """Return the relations that leave or reach a node."""
    check_text("node_id", node_id)
    where = Where().add("source = ?" if direction == "out" else "target = ?", node_id)
    if kinds is not None:
        where.add("kind IN (SELECT value FROM json_each(?))", as_json(kinds))
    statement = f"SELECT kind, source, target FROM relation WHERE {where} ORDER BY 1, 2, 3"
    return [Relation(*row) for row in connection.execute(statement, where.bindings)]


def read_of_files(
    connection: apsw.Connection, project_id: str, paths: Sequence[str]
) -> list[Relation]:
    """Return the relations that leave files and their scopes."""
    statement = """
        SELECT kind, source, target FROM relation WHERE file_id IN (
          SELECT uuid FROM file
          WHERE project_id = ? AND path IN (SELECT value FROM json_each(?)))
        ORDER BY 1, 2, 3"""
    return [Relation(*row) for row in connection.execute(statement, (project_id, as_json(paths)))]


def rename_file(connection: apsw.Connection, old: str, new: str) -> None:
    """Give a file another id; its scopes and the relations that reach it follow.

    Raises DuplicateId if the id is taken.
    """
    if select_value(connection, "SELECT 1 FROM file WHERE uuid = ?", (new,)):
        raise DuplicateId("file", new)
    connection.execute("UPDATE file SET uuid = ? WHERE uuid = ?", (new, old))
    connection.execute("UPDATE relation SET target = ? WHERE target = ?", (new, old))
