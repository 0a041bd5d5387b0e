"""Directories: they follow from the paths of files."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import NAMESPACE_URL, uuid5

import apsw

from ragforge.adapters.stores.sqlite.sql import Where, under, upsert, value


def add_directories(connection: apsw.Connection, project_id: str, paths: Iterable[str]) -> None:
    """Store every directory that leads to one of the files."""
    for path in _parents(paths):
        row = {
            "uuid": str(uuid5(NAMESPACE_URL, f"{project_id}/{path}")),
            "project_id": project_id,
            "path": path,
            "name": path.rsplit("/", 1)[-1],
        }
        upsert(connection, "directory", row, ["project_id", "path"])


def prune_directories(connection: apsw.Connection, project_id: str, paths: Iterable[str]) -> None:
    """Remove directories that led to the files and hold none any more."""
    for path in _parents(paths):
        where = under(Where().add("project_id = ?", project_id), "path", path)
        statement = f"SELECT 1 FROM file WHERE {where} LIMIT 1"
        if not value(connection, statement, where.bindings):
            connection.execute(
                "DELETE FROM directory WHERE project_id = ? AND path = ?", (project_id, path)
            )


def _parents(paths: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    for path in paths:
        parts = path.split("/")[:-1]
        found |= {"/".join(parts[: depth + 1]): None for depth in range(len(parts))}
    return [path for path in found if path]
