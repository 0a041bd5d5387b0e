"""Salvage: open a damaged file as far as it can be read, and list what is in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import apsw

from ragforge.adapters.stores.sqlite.database import connect
from ragforge.adapters.stores.sqlite.failures import translate_errors
from ragforge.adapters.stores.sqlite.migrate import prepare
from ragforge.adapters.stores.sqlite.store import build_store
from ragforge.adapters.stores.sqlite.threads import ThreadedDatabase
from ragforge.domain.conversation_bundle import NamedSession
from ragforge.domain.kinds import STORED
from ragforge.errors import StoreError
from ragforge.ports.store import Store
from ragforge.ports.words import Tokeniser

# The same ids stand in several places of the file: what one place lost, another may have.
_CONVERSATIONS = (
    "SELECT uuid FROM conversation NOT INDEXED ORDER BY rowid",
    "SELECT uuid FROM conversation NOT INDEXED ORDER BY rowid DESC",
    "SELECT uuid FROM conversation ORDER BY uuid",
    "SELECT uuid FROM conversation ORDER BY uuid DESC",
)
_TURNS = (
    "SELECT conversation_id, project_id, message_id FROM turn ORDER BY rowid",
    "SELECT conversation_id, project_id, message_id FROM turn ORDER BY rowid DESC",
)
HEADER_BYTES = 100
PAGE_BYTES = 4_096
MAX_FILLED = 1_000
"""A file is made so many times as long at most: a damaged header may say anything."""


def copy_file(source: Path, target: Path) -> bool:
    """Copy a file with what is not yet merged into it; return whether its end is missing.

    The missing pages are filled with zeros: SQLite does not open a file that is shorter than its
    header says, and reads one with empty pages up to those. Raises OSError.
    """
    shutil.copyfile(source, target)
    with suppress(FileNotFoundError):
        shutil.copyfile(f"{source}-wal", f"{target}-wal")
    with target.open("r+b") as file:
        first = file.read(PAGE_BYTES)
        size = file.seek(0, os.SEEK_END)
        whole = int.from_bytes(first[28:32]) * int.from_bytes(first[16:18])
        is_cut = size < max(whole, PAGE_BYTES)
        if PAGE_BYTES <= size < whole <= MAX_FILLED * size:
            file.truncate(whole)
            _restore_definitions(file, first, size // PAGE_BYTES)
        return is_cut


def _restore_definitions(file: BinaryIO, first: bytes, pages: int) -> None:
    """Write the definitions of tables where they were lost; only the first pages are there.

    In a small file they are near the end. A new store has them on the same pages, unless the file
    was made by another version.
    """
    with TemporaryDirectory(prefix="ragforge-schema-") as folder:
        new = Path(folder) / "new.db"
        prepare(new)
        connection = connect(new)
        try:
            statement = "SELECT pageno FROM dbstat WHERE name = 'sqlite_schema' AND pageno > ?"
            lost = [page for (page,) in connection.execute(statement, (pages,))]
        finally:
            connection.close()
        content = new.read_bytes()
    if content[HEADER_BYTES:PAGE_BYTES] != first[HEADER_BYTES:]:
        return
    for page in lost:
        start = (page - 1) * PAGE_BYTES
        file.seek(start)
        file.write(content[start : start + PAGE_BYTES])


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
    return build_store(ThreadedDatabase(path, STORED), tokeniser, schema)


def list_sessions(path: Path) -> dict[str, NamedSession]:
    """Return all conversations that any part of a damaged file still names, in order of their ids.

    With the turns that it names of them.
    """
    with translate_errors(str(path)):
        connection = connect(path)
        try:
            ids = {row[0] for place in _CONVERSATIONS for row in _read_rows(connection, place)}
            turns = [row for place in _TURNS for row in _read_rows(connection, place)]
        finally:
            connection.close()
    found: dict[str, dict[str, str]] = {one: {} for one in ids}  # turn → project
    for conversation_id, project_id, turn_id in turns:
        found.setdefault(conversation_id, {})[turn_id] = project_id
    return {
        one: NamedSession(next(iter(named.values()), ""), tuple(named))
        for one, named in sorted(found.items())
    }


def _read_rows(connection: apsw.Connection, statement: str) -> Iterator[tuple[str, ...]]:
    """Yield rows of texts, up to the damage."""
    try:
        for row in connection.execute(statement):
            if all(isinstance(value, str) and value for value in row):
                yield row
    except apsw.Error:
        return
