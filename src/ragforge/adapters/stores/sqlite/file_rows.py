"""File rows: files replaced with exactly their scopes, many at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import apsw

from ragforge.adapters.stores.sqlite import relations, scope_rows
from ragforge.adapters.stores.sqlite.directories import add_directories
from ragforge.adapters.stores.sqlite.sql import as_json, insert_many, upsert
from ragforge.domain.kinds import CleanRow
from ragforge.domain.rows import EncodedFiles
from ragforge.ports.words import Tokeniser


def set_column(
    connection: apsw.Connection, project_id: str, column: str, values: Mapping[str, str | None]
) -> None:
    """Set a column of files by path; unknown paths do nothing."""
    statement = f"UPDATE file SET {column} = ? WHERE project_id = ? AND path = ?"
    rows = [(value, project_id, path) for path, value in values.items()]
    connection.executemany(statement, rows)


def replace(
    connection: apsw.Connection,
    project_id: str,
    encoded: EncodedFiles,
    tokeniser: Tokeniser,
) -> None:
    """Store files with exactly these scopes.

    Raises DuplicateId if another file has an id.
    """
    rows, scopes = encoded
    known = _find_known(connection, project_id, [row["path"] for row in rows])
    new = [row for row in rows if row["path"] not in known]
    changed = [row for row in rows if row["path"] in known]
    if new:
        lists = [CleanRow({**row, "imports": json.dumps(row["imports"])}) for row in new]
        insert_many(connection, "file", tuple(new[0]), lists)
    for row in changed:
        if row["uuid"] != (uuid := known[row["path"]]):
            relations.rename_file(connection, uuid, row["uuid"])
        upsert(connection, "file", row, ["uuid"])
    ids = [row["uuid"] for row in changed]
    if changed:
        _drop(connection, ids, [scope["uuid"] for scope in scopes])
    scope_rows.put(
        connection, project_id, scopes, scope_rows.read_of_files(connection, ids), tokeniser
    )
    add_directories(connection, project_id, [row["path"] for row in new])


def _find_known(
    connection: apsw.Connection, project_id: str, paths: Sequence[str]
) -> dict[str, str]:
    statement = """SELECT path, uuid FROM file
                   WHERE project_id = ? AND path IN (SELECT value FROM json_each(?))"""
    return dict(connection.execute(statement, (project_id, as_json(paths))))


def _drop(connection: apsw.Connection, file_ids: Sequence[str], kept: Sequence[str]) -> None:
    """Drop what goes out of files, and their scopes but for those that are kept."""
    files = "file_id IN (SELECT value FROM json_each(?))"
    connection.execute(f"DELETE FROM relation WHERE {files}", (as_json(file_ids),))
    connection.execute(
        f"DELETE FROM scope WHERE {files} AND uuid NOT IN (SELECT value FROM json_each(?))",
        (as_json(file_ids), as_json(kept)),
    )
