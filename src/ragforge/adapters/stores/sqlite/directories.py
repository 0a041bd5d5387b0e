"""Directories: they follow from the paths of files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

import apsw

from ragforge.adapters.stores.sqlite.sql import Where, add_under, select_value, upsert
from ragforge.domain.code import list_directories
from ragforge.domain.kinds import CleanRow


def add_directories(connection: apsw.Connection, project_id: str, paths: Iterable[str]) -> None:
    """Store every directory that leads to one of the files."""
    for directory in list_directories(project_id, paths):
        row = CleanRow({**asdict(directory), "project_id": project_id})
        upsert(connection, "directory", row, ["project_id", "path"])


def prune_directories(connection: apsw.Connection, project_id: str, paths: Iterable[str]) -> None:
    """Remove directories that led to the files and hold none any more."""
    for directory in list_directories(project_id, paths):
        where = add_under(Where().add("project_id = ?", project_id), "path", directory.path)
        statement = f"SELECT 1 FROM file WHERE {where} LIMIT 1"
        if not select_value(connection, statement, where.bindings):
            connection.execute("DELETE FROM directory WHERE uuid = ?", (directory.uuid,))
