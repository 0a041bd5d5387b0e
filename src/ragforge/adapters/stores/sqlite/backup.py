"""Backup: copy a store consistently, and save what can be read of a damaged one."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import apsw

from ragforge.adapters.stores.holders import is_running
from ragforge.adapters.stores.sqlite.database import BUSY_MS, connect, open_for_reading, read_schema
from ragforge.adapters.stores.sqlite.failures import translate_errors
from ragforge.adapters.stores.sqlite.migrate import prepare
from ragforge.adapters.stores.sqlite.store import build_store
from ragforge.adapters.stores.sqlite.threads import ThreadedDatabase
from ragforge.domain.conversation_bundle import NamedSession
from ragforge.domain.kinds import STORED
from ragforge.errors import InputError, StoreError, StoreUnavailable
from ragforge.ports.search_index import Tokeniser
from ragforge.ports.store import Store

PAGES = 4_096
"""How many pages are copied between two reports."""


# The same ids are in several places of the file: one may have what another lost.
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
"""The maximum growth of a file that is filled up: a damaged header may give any size."""


@contextmanager
def open_draft(target: Path) -> Iterator[Path]:
    """Give the place of a new file, private to its owner; it becomes the target at the end.

    If the block fails, nothing is left. Raises InputError if the target exists.
    """
    if target.exists():
        raise InputError(f"{target} exists already. Name a new file.")
    draft = target.with_name(f".ragforge-{os.getpid()}-{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_left(target)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StoreUnavailable(f"{draft} cannot be written: {error.strerror}") from error
    try:
        yield draft
        os.replace(draft, target)
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            Path(f"{draft}{end}").unlink(missing_ok=True)


def _remove_left(target: Path) -> None:
    """Remove what killed processes left of the same file."""
    for left in target.parent.glob(".ragforge-*"):
        match = re.fullmatch(rf"\.ragforge-(\d+)-{re.escape(target.name)}(-\w+)?", left.name)
        if match and (int(match[1]) == os.getpid() or not is_running(int(match[1]))):
            left.unlink(missing_ok=True)


def back_up(
    source: Path, target: Path, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> None:
    """Copy a store into an empty file as it is at one moment, while others write to it.

    Raises StoreCorrupt if a page cannot be read, StoreFull.
    """
    with (
        closing(apsw.Connection(str(target))) as copy,
        translate_errors(str(source)),
        closing(open_for_reading(source)) as origin,
    ):
        copy.set_busy_timeout(BUSY_MS)
        # One transaction over all steps: without it, each write of another process would
        # restart the copy.
        origin.execute("BEGIN")
        origin.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018
        with copy.backup("main", origin, "main") as running:
            while not running.done:
                running.step(PAGES)
                on_progress(running.page_count - running.remaining, running.page_count)
        origin.execute("ROLLBACK")
        # One file, that can be read where nothing may be written.
        copy.pragma("journal_mode", "delete")


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
        with closing(connect(new)) as connection:
            statement = "SELECT pageno FROM dbstat WHERE name = 'sqlite_schema' AND pageno > ?"
            lost = [page for (page,) in connection.execute(statement, (pages,))]
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
    with translate_errors(str(path)), closing(connect(path)) as connection:
        schema = read_schema(connection)
        connection.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018
    return build_store(ThreadedDatabase(path, STORED), tokeniser, schema)


def list_sessions(path: Path) -> dict[str, NamedSession]:
    """Return all conversations that any part of a damaged file still names, in order of their ids.

    With the turns that it names of them.
    """
    with translate_errors(str(path)), closing(connect(path)) as connection:
        ids = {row[0] for place in _CONVERSATIONS for row in _read_rows(connection, place)}
        turns = [row for place in _TURNS for row in _read_rows(connection, place)]
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
