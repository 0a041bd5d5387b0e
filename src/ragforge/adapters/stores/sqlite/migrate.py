"""Migrate: create a file with the newest schema, or upgrade an older one step by step."""

from __future__ import annotations

import logging
import os
import time
from contextlib import closing, suppress
from importlib.resources import files
from pathlib import Path

import apsw

from ragforge.adapters.stores.sqlite import words
from ragforge.adapters.stores.sqlite.database import (
    APPLICATION_ID,
    BUSY_MS,
    SCHEMA,
    check_format,
    connect,
    read_schema,
)
from ragforge.adapters.stores.sqlite.failures import translate_errors
from ragforge.adapters.stores.sqlite.sql import Connection
from ragforge.errors import StoreCorrupt, StoreReadOnly, StoreUnavailable
from ragforge.ports.search_index import Tokeniser
from ragforge.private_files import close_to_others, create_private_file, make_private_folder

log = logging.getLogger(__name__)

INCREMENTAL = 2
"""SQLite's name for a file that can return pages without being rewritten."""

_FOLDER = files("ragforge.adapters.stores.sqlite")


def read_schema_script() -> str:
    """Return the SQL that creates the newest schema in a new file."""
    return (_FOLDER / "schema.sql").read_text("utf-8")


def read_migrations() -> list[str]:
    """Return the SQL of every step; the first creates schema 1."""
    steps = sorted((_FOLDER / "migrations").iterdir(), key=lambda step: step.name)
    return [step.read_text("utf-8") for step in steps if step.name.endswith(".sql")]


def is_locked(path: Path) -> bool:
    """Tell whether a file is there that may be read, but neither it nor its folder written."""
    effective = os.access in os.supports_effective_ids

    def may(place: Path, mode: int) -> bool:
        return os.access(place, mode, effective_ids=effective)

    writable = may(path, os.W_OK) and may(path.parent, os.W_OK)
    return not writable and path.is_file() and may(path, os.R_OK)


def prepare(path: Path, tokeniser: Tokeniser | None = None) -> int:
    """Create or upgrade the file and return its schema number.

    A new file has no words yet: with a tokeniser they are its own from the start, else the first
    to open it decides.

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
    for ending in ("-wal", "-shm", "-journal"):  # SQLite creates new ones with the mode of the file
        close_to_others(path.with_name(path.name + ending))
    with translate_errors(str(path)), closing(connect(path)) as connection:
        _upgrade(connection, path, tokeniser)
    return SCHEMA


def _upgrade(connection: Connection, path: Path, tokeniser: Tokeniser | None) -> None:
    check_format(connection, path)
    if read_schema(connection) == 0:  # a new file returns pages; this must be set first
        connection.pragma("auto_vacuum", INCREMENTAL)
    _turn_log_on(connection)
    if read_schema(connection) == SCHEMA:
        return
    connection.pragma("foreign_keys", False)  # a step may recreate a table that others refer to
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have upgraded it while this one waited.
        check_format(connection, path)
        found = read_schema(connection)
        log.info("%s: %s schema %d", path, "migrating to" if found else "creating", SCHEMA)
        for script in read_migrations()[found:] if found else [read_schema_script()]:
            _run(connection, path, found, script)
        if not found and tokeniser is not None:
            words.note(connection, tokeniser)
        connection.pragma("user_version", SCHEMA)
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _turn_log_on(connection: Connection) -> None:
    """Turn on WAL, so that readers can work during a write.

    SQLite does not wait for another connection that turns it on.
    """
    deadline = time.monotonic() + BUSY_MS / 1000
    while connection.pragma("journal_mode") != "wal":
        try:
            connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _run(connection: Connection, path: Path, found: int, script: str) -> None:
    try:
        connection.execute(script)
    except apsw.SQLError as error:
        raise StoreCorrupt(
            f"{path} says that it has schema {found}, but its tables do not fit ({error}). "
            "Another program changed its user_version. Restore a backup, or save what is in it: "
            f"ragforge store repair --store {path}"
        ) from error
