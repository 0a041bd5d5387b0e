"""Integrity: whether a file is damaged, as far as SQLite can tell."""

from __future__ import annotations

import time

import apsw

from ragforge.adapters.stores.sqlite.sql import select_column

MOST_PROBLEMS = 5
QUICK_SECONDS = 20.0
"""A large file is looked at for so long, unless somebody wants to know it all."""
_STEPS = 100_000  # of SQLite's machine between two looks at the clock


def find_problems(connection: apsw.Connection, deep: bool) -> tuple[str, ...]:
    """Return what is wrong with the file; `deep` looks at everything, however long that takes.

    Else the tables come first, then the indexes beside them, until the time is over: what was not
    reached is no finding. What cannot be read is a finding.
    """
    if deep:
        return _check(connection, "integrity_check") or _find_broken_links(connection)
    ends = time.monotonic() + QUICK_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
    try:
        return _check(connection, "quick_check") or _check(connection, "integrity_check")
    except apsw.InterruptError:
        return ()
    finally:
        connection.set_progress_handler(None)


def _check(connection: apsw.Connection, how: str) -> tuple[str, ...]:
    try:
        found = select_column(connection, f"PRAGMA {how}({MOST_PROBLEMS})")
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as error:
        return (str(error),)
    return tuple(str(problem) for problem in found if problem != "ok")


def _find_broken_links(connection: apsw.Connection) -> tuple[str, ...]:
    try:
        broken = list(connection.execute("PRAGMA foreign_key_check"))[:MOST_PROBLEMS]
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return (str(error),)
    return tuple(f"{row[0]} row {row[1]} refers to nothing in {row[2]}" for row in broken)
