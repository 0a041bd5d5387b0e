"""Migrate: bring a file to the newest schema, one numbered step at a time."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import apsw

from ragforge.adapters.stores.sqlite.database import connect, open_for_reading
from ragforge.adapters.stores.sqlite.failures import translate_errors
from ragforge.errors import SchemaTooNew, StoreCorrupt, StoreReadOnly, StoreUnavailable
from ragforge.private_files import close_to_others, create_private_file, make_private_folder

log = logging.getLogger(__name__)

APPLICATION_ID = 0x52464747
"""Tells a RagForge store from any other SQLite file."""

INCREMENTAL = 2
"""What SQLite calls a file that can give pages back without being written anew."""


def read_migrations() -> list[str]:
    """Return the SQL of every step; the first leads from nothing to schema 1."""
    folder = files("ragforge.adapters.stores.sqlite") / "migrations"
    steps = sorted((step for step in folder.iterdir()), key=lambda step: step.name)
    return [step.read_text("utf-8") for step in steps if step.name.endswith(".sql")]


def is_locked(path: Path) -> bool:
    """Tell whether a file is there that may be read, but neither it nor its folder written."""
    effective = os.access in os.supports_effective_ids

    def may(place: Path, mode: int) -> bool:
        return os.access(place, mode, effective_ids=effective)

    writable = may(path, os.W_OK) and may(path.parent, os.W_OK)
    return not writable and path.is_file() and may(path, os.R_OK)


def check_readable(path: Path) -> int:
    """Return the schema number of a file that is only read.

    Raises SchemaTooNew, StoreCorrupt, or StoreReadOnly if it would have to be upgraded first.
    """
    with translate_errors(str(path)):
        connection = open_for_reading(path)
        try:
            newest = len(read_migrations())
            _check(connection, path, newest)
            schema = _read_schema(connection)
        finally:
            connection.close()
    if schema != newest:
        raise StoreReadOnly(
            f"{path} has schema {schema} and must be upgraded to {newest}, but it cannot be "
            "written to. Copy the file to a folder of yours and name it with --store."
        )
    return schema


def prepare(path: Path) -> int:
    """Create or upgrade the file and return its schema number.

    Raises SchemaTooNew, StoreCorrupt, StoreReadOnly or StoreUnavailable.
    """
    try:
        make_private_folder(path.parent)
    except PermissionError as error:
        raise StoreReadOnly(f"{path.parent} cannot be created: {error.strerror}") from error
    except OSError as error:
        raise StoreUnavailable(f"{path.parent} cannot be created: {error.strerror}") from error
    with suppress(OSError):  # SQLite says better what is wrong with the file
        create_private_file(path)
    for ending in ("-wal", "-shm", "-journal"):  # SQLite gives new ones the mode of the file
        close_to_others(path.with_name(path.name + ending))
    with translate_errors(str(path)):
        connection = connect(path)
        try:
            return _upgrade(connection, path, read_migrations())
        finally:
            connection.close()


def _upgrade(connection: apsw.Connection, path: Path, steps: list[str]) -> int:
    _check(connection, path, len(steps))
    if _read_schema(connection) == 0:  # a new file gives pages back; it must say so at first
        connection.pragma("auto_vacuum", INCREMENTAL)
    if connection.pragma("journal_mode") != "wal":
        connection.pragma("journal_mode", "wal")
    if _read_schema(connection) == len(steps):
        return len(steps)
    connection.pragma("foreign_keys", False)  # a step may make a table anew that others refer to
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have upgraded it while this one waited.
        _check(connection, path, len(steps))
        for number in range(_read_schema(connection), len(steps)):
            log.info("%s: migrating to schema %d", path, number + 1)
            try:
                connection.execute(steps[number])
            except apsw.SQLError as error:
                raise StoreCorrupt(
                    f"{path} says that it has schema {number}, but its tables are others "
                    f"({error}). Somebody changed its user_version. Put a backup in its place, "
                    f"or save what is in it: ragforge store repair --store {path}"
                ) from error
            connection.pragma("user_version", number + 1)
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return len(steps)


def _check(connection: apsw.Connection, path: Path, known: int) -> None:
    is_empty = connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
    if not is_empty and connection.pragma("application_id") != APPLICATION_ID:
        raise StoreCorrupt(f"{path} is an SQLite file, but not a RagForge store. Choose another.")
    if _read_schema(connection) > known:
        raise SchemaTooNew(str(path), _read_schema(connection), known)


def _read_schema(connection: apsw.Connection) -> int:
    return int(str(connection.pragma("user_version")))
