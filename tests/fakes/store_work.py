"""Store work: what the queries of a SQLite store cost, counted and not timed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw

from ragforge.adapters.stores.sqlite import database

STEPS = 100
"""SQLite reports after this many of its instructions."""


@dataclass(slots=True)
class StoreWork:
    """What the queries did since the last `reset`."""

    steps: int = 0  # instructions of SQLite
    chars: int = 0  # in the texts that it returned
    queries: int = 0

    def reset(self) -> None:
        self.steps = self.chars = self.queries = 0

    def _count_steps(self) -> bool:
        self.steps += STEPS
        return False

    def _count_row(self, _: Any, row: tuple[Any, ...]) -> tuple[Any, ...]:
        self.chars += sum(len(value) for value in row if isinstance(value, str))
        return row

    def _count_query(self, *_: Any) -> bool:
        self.queries += 1
        return True

    def watch(self, connection: apsw.Connection) -> None:
        # With a separate id it does not replace the handler that lets a read be abandoned.
        connection.set_progress_handler(self._count_steps, STEPS, id=self.watch)
        connection.row_trace = self._count_row
        connection.exec_trace = self._count_query


@contextmanager
def count_store_work() -> Iterator[StoreWork]:
    """Count what the stores do that are opened meanwhile."""
    work = StoreWork()
    connect = database.connect

    def connect_watched(path: Path) -> apsw.Connection:
        connection = connect(path)
        work.watch(connection)
        return connection

    with patch.object(database, "connect", connect_watched):
        yield work
