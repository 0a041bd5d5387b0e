"""Salvage: open a damaged file as far as it can be read, and list what is in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw

from ragforge.adapters.stores.sqlite.database import Database, connect
from ragforge.adapters.stores.sqlite.failures import translate_errors
from ragforge.adapters.stores.sqlite.migrate import prepare
from ragforge.adapters.stores.sqlite.store import build_store
from ragforge.errors import StoreError
from ragforge.ports.store import Store
from ragforge.ports.words import Tokeniser

# The same ids stand in several places of the file: what one place lost, another may have.
_PLACES = (
    "SELECT uuid FROM conversation NOT INDEXED ORDER BY rowid",
    "SELECT uuid FROM conversation NOT INDEXED ORDER BY rowid DESC",
    "SELECT uuid FROM conversation ORDER BY uuid",
    "SELECT uuid FROM conversation ORDER BY uuid DESC",
    "SELECT conversation_id FROM turn ORDER BY rowid",
    "SELECT conversation_id FROM turn ORDER BY rowid DESC",
)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file with what is not yet merged into it. Raises OSError."""
    shutil.copyfile(source, target)
    with suppress(FileNotFoundError):
        shutil.copyfile(f"{source}-wal", f"{target}-wal")


def open_damaged(path: Path, tokeniser: Tokeniser) -> Store:
    """Open a private copy of a damaged file: it may be changed, and nothing in it is checked.

    Raises StoreCorrupt if not even its tables can be listed.
    """
    with suppress(StoreError):  # an older schema is upgraded, if the damage allows that
        prepare(path)
    with translate_errors(str(path)):
        connection = connect(path)
        try:
            schema = int(str(connection.pragma("user_version")))
            connection.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018
        finally:
            connection.close()
    return build_store(Database(path), tokeniser, schema)


def list_conversations(path: Path) -> list[str]:
    """Return the ids of all conversations that any part of a damaged file still names."""
    with translate_errors(str(path)):
        connection = connect(path)
        try:
            found = {key for place in _PLACES for key in _read_until_damage(connection, place)}
        finally:
            connection.close()
    return sorted(found)


def _read_until_damage(connection: apsw.Connection, statement: str) -> Iterator[str]:
    try:
        for (value,) in connection.execute(statement):
            if isinstance(value, str) and value:
                yield value
    except apsw.Error:
        return
