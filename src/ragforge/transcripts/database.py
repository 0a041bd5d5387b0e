"""Database: another program's SQLite file, read while it may be written, and never changed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ragforge.errors import TranscriptUnreadable
from ragforge.transcripts.files import check_regular, open_regular
from ragforge.transcripts.source import stamp_files

_PATIENCE = 1.0  # seconds for a writer to end; later, the next import finds what it wrote
_COMPANIONS = ("-wal", "-shm", "-journal")  # SQLite opens these by itself
_HEADER = 20
_WAL_BYTE, _WAL_MODE = 18, 2


class AgentDatabase:
    """Rows of a database as dictionaries, without the columns that a table lacks."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        rows = self.query("SELECT name FROM sqlite_master WHERE type = 'table'")
        self.tables = {str(row["name"]) for row in rows}

    def query(self, sql: str, *values: object) -> list[dict[str, Any]]:
        """Return the rows of a query. Raises TranscriptUnreadable."""
        try:
            cursor = self._connection.execute(sql, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]
        except sqlite3.Error as error:
            raise TranscriptUnreadable(self._path, f"SQLite says: {error}") from error

    def require(self, *tables: str) -> None:
        """Raise TranscriptUnreadable if one of these tables is missing."""
        if missing := sorted(set(tables) - self.tables):
            raise TranscriptUnreadable(self._path, f"it has no table {', '.join(missing)}")

    def has_column(self, table: str, column: str) -> bool:
        rows = self.query("SELECT name FROM pragma_table_info(?)", table)
        return any(row["name"] == column for row in rows)


@contextmanager
def open_database(path: Path) -> Iterator[AgentDatabase]:
    """Open a database so that no file next to it is created or changed.

    A database in WAL mode is read with its log, through memory of our own or that of its writer.
    Without a log no process writes to it, and it is read as it is. Raises OSError and
    TranscriptUnreadable.
    """
    with open_regular(path) as file:
        header = file.read(_HEADER)
    is_wal = len(header) == _HEADER and header[_WAL_BYTE] == _WAL_MODE
    for companion in (path.with_name(f"{path.name}{end}") for end in _COMPANIONS):
        if companion.exists():
            check_regular(companion, os.stat(companion))
    has_log = path.with_name(f"{path.name}-wal").exists()
    options = "mode=ro&immutable=1" if is_wal and not has_log else "mode=ro&readonly_shm=1"
    with closing(_connect(path, options)) as connection:
        connection.text_factory = lambda data: data.decode(errors="replace")
        yield AgentDatabase(path, connection)


def stamp_database(path: Path) -> str:
    """Return what changes whenever a database or its log does. Raises OSError."""
    return stamp_files(path, path.with_name(f"{path.name}-wal"))


def _connect(path: Path, options: str) -> sqlite3.Connection:
    """Connect; a log that cannot be read without creating a file is left out for now."""
    address = path.absolute().as_uri()
    for tried in (options, "mode=ro&immutable=1"):
        # Different threads may read pieces, one after the other.
        connection = sqlite3.connect(
            f"{address}?{tried}", uri=True, timeout=_PATIENCE, check_same_thread=False
        )
        try:
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
        except sqlite3.Error as error:
            connection.close()
            reason = error
        else:
            return connection
    raise TranscriptUnreadable(path, f"SQLite says: {reason}")
