"""File rows: read, marked, and replaced with exactly their scopes, many at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from ragforge.adapters.stores.sqlite import relations, scope_rows
from ragforge.adapters.stores.sqlite.directories import add_directories
from ragforge.adapters.stores.sqlite.sql import (
    Where,
    as_json,
    insert_many,
    select_one,
    upsert,
)
from ragforge.domain.code import File
from ragforge.domain.instants import parse_instant
from ragforge.domain.kinds import CleanRow, Row
from ragforge.domain.rows import EncodedFiles
from ragforge.domain.text import check_text
from ragforge.ports.words import Tokeniser


def select_files(
    connection: apsw.Connection, conditions: Where, order: str = "path", limit: int = -1
) -> list[File]:
    """Return files in order. Every walk reads all of a project's: by column, not by name."""
    statement = f"""SELECT path, hash, uuid, kind, language, size, mtime, state, imports
                    FROM file WHERE {conditions} ORDER BY {order} LIMIT {limit}"""
    return [_decode_file(*row) for row in connection.execute(statement, conditions.bindings)]


def read(connection: apsw.Connection, project_id: str, path: str) -> Row | None:
    """Return the row of a file, or None."""
    check_text("path", path)
    statement = "SELECT * FROM file WHERE project_id = ? AND path = ?"
    return select_one(connection, statement, (project_id, path))


def mark(connection: apsw.Connection, project_id: str, paths: Sequence[str], state: str) -> None:
    """Set the state of files; unknown paths do nothing."""
    connection.execute(
        """UPDATE file SET state = ? WHERE project_id = ?
           AND path IN (SELECT value FROM json_each(?))""",
        (state, project_id, as_json(paths)),
    )


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


def _decode_file(*row: Any) -> File:
    path, found, uuid, kind, language, size, mtime, state, imports = row
    time = None if mtime is None else parse_instant(mtime)
    names = () if imports == "[]" else tuple(json.loads(imports))
    return File(path, found, uuid, kind, language, size, time, state, names)
