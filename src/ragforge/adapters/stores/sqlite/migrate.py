"""Migrate: bring a file to the newest schema, one numbered step at a time."""

from __future__ import annotations

import logging
from importlib.resources import files
from pathlib import Path

import apsw

from ragforge.adapters.stores.sqlite.database import connect
from ragforge.adapters.stores.sqlite.failures import translate_errors
from ragforge.errors import SchemaTooNew, StoreCorrupt, StoreReadOnly, StoreUnavailable

log = logging.getLogger(__name__)

APPLICATION_ID = 0x52464747
"""Tells a RagForge store from any other SQLite file."""


def read_migrations() -> list[str]:
    """Return the SQL of every step; the first leads from nothing to schema 1."""
    folder = files("ragforge.adapters.stores.sqlite") / "migrations"
    steps = sorted((step for step in folder.iterdir()), key=lambda step: step.name)
    return [step.read_text("utf-8") for step in steps if step.name.endswith(".sql")]


def prepare(path: Path) -> int:
    """Create or upgrade the file and return its schema number.

    Raises SchemaTooNew, StoreCorrupt, StoreReadOnly or StoreUnavailable.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except PermissionError as error:
        raise StoreReadOnly(f"{path.parent} cannot be created: {error.strerror}") from error
    except OSError as error:
        raise StoreUnavailable(f"{path.parent} cannot be created: {error.strerror}") from error
    with translate_errors(str(path)):
        connection = connect(path)
        try:
            return _upgrade(connection, path, read_migrations())
        finally:
            connection.close()


def _upgrade(connection: apsw.Connection, path: Path, steps: list[str]) -> int:
    _check(connection, path, len(steps))
    if connection.pragma("journal_mode") != "wal":
        connection.pragma("journal_mode", "wal")
    if _read_schema(connection) == len(steps):
        return len(steps)
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have upgraded it while this one waited.
        _check(connection, path, len(steps))
        for number in range(_read_schema(connection), len(steps)):
            log.info("%s: migrating to schema %d", path, number + 1)
            connection.execute(steps[number])
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
