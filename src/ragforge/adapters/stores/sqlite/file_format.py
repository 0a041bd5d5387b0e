"""File format: whether a file is a store, and which schema it has."""

from __future__ import annotations

from pathlib import Path

import apsw

from ragforge.adapters.stores.sqlite.database import Database
from ragforge.errors import SchemaTooNew, StoreCorrupt, StoreReadOnly

APPLICATION_ID = 0x52464747
"""Tells a RagForge store from any other SQLite file."""

SCHEMA = 24
"""The number of the newest schema: that of the last step, and of `schema.sql`."""


async def begin_reading(database: Database) -> int:
    """Return the schema number of a file that is only read; a file that cannot be is closed.

    Raises as `check_readable` does.
    """
    try:
        return await database.read(lambda c: check_readable(c, database.path))
    except BaseException:
        await database.close()
        raise


def check_readable(connection: apsw.Connection, path: Path) -> int:
    """Return the schema number of a file that is only read.

    Raises SchemaTooNew, StoreCorrupt, or StoreReadOnly if it would have to be upgraded first.
    """
    check_format(connection, path)
    schema = read_schema(connection)
    if schema != SCHEMA:
        raise StoreReadOnly(
            f"{path} has schema {schema} and must be upgraded to {SCHEMA}, but it cannot be "
            "written to. Copy the file to a folder of yours and name it with --store."
        )
    return schema


def check_format(connection: apsw.Connection, path: Path) -> None:
    """Raise StoreCorrupt if it is no store, SchemaTooNew if a newer RagForge wrote it."""
    is_empty = connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
    if not is_empty and connection.pragma("application_id") != APPLICATION_ID:
        raise StoreCorrupt(f"{path} is an SQLite file, but not a RagForge store. Choose another.")
    if read_schema(connection) > SCHEMA:
        raise SchemaTooNew(str(path), read_schema(connection), SCHEMA)


def read_schema(connection: apsw.Connection) -> int:
    """Return the number of a file's schema; 0 for an empty one."""
    return int(str(connection.pragma("user_version")))
