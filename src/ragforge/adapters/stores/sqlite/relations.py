"""Relations: the edges between scopes, files and libraries."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from ragforge.adapters.stores.sqlite.sql import Where, as_json, upsert, value
from ragforge.domain.code import Direction, Relation, RelationKind
from ragforge.domain.text import check_id, check_text
from ragforge.errors import DuplicateId, FileNotKnown, ScopeNotFound

_BETWEEN_SCOPES = ("HAS_PARENT", "CONSUMES", "INHERITS_FROM")


def add(connection: apsw.Connection, project_id: str, relations: Sequence[Relation]) -> None:
    """Add relations. Raises ScopeNotFound or FileNotKnown if an end is unknown."""
    for relation in relations:
        check_id("relation.target", relation.target)
        row = {
            "kind": relation.kind,
            "source": relation.source,
            "target": relation.target,
            "project_id": project_id,
            "file_id": _file_of(connection, relation, relation.source),
        }
        if relation.kind != "USES_LIBRARY":
            _file_of(connection, relation, relation.target)
        upsert(connection, "relation", row, ["source", "kind", "target"])


def of(
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


def rename_file(connection: apsw.Connection, old: str, new: str) -> None:
    """Give a file another id; its scopes and the relations that reach it follow.

    Raises DuplicateId if the id is taken.
    """
    if value(connection, "SELECT 1 FROM file WHERE uuid = ?", (new,)):
        raise DuplicateId("file", new)
    connection.execute("UPDATE file SET uuid = ? WHERE uuid = ?", (new, old))
    connection.execute("UPDATE relation SET target = ? WHERE target = ?", (new, old))


def _file_of(connection: apsw.Connection, relation: Relation, end: str) -> str:
    """Return the file that an end of a relation is, or lies in."""
    check_text("relation end", end)
    if relation.kind in _BETWEEN_SCOPES:
        file_id = value(connection, "SELECT file_id FROM scope WHERE uuid = ?", (end,))
        if file_id is None:
            raise ScopeNotFound(end)
    else:
        file_id = value(connection, "SELECT uuid FROM file WHERE uuid = ?", (end,))
        if file_id is None:
            raise FileNotKnown(end)
    return str(file_id)
