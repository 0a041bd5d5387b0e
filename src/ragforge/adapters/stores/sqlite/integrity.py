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
    """Return what is wrong with the file; `deep` compares its indexes with its tables as well.

    A quick look that takes too long ends without a finding. What cannot be read is a finding.
    """
    ends = time.monotonic() + QUICK_SECONDS
    if not deep:
        connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
    check = "integrity_check" if deep else "quick_check"
    try:
        found = select_column(connection, f"PRAGMA {check}({MOST_PROBLEMS})")
        problems = [str(problem) for problem in found if problem != "ok"]
        if deep:
            broken = list(connection.execute("PRAGMA foreign_key_check"))[:MOST_PROBLEMS]
            problems += [f"{row[0]} row {row[1]} refers to nothing in {row[2]}" for row in broken]
        return tuple(problems)
    except apsw.InterruptError:
        return ()
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return (str(error),)
    finally:
        connection.set_progress_handler(None)
