"""Queries: which ones a piece of work sends to a Neo4j server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.domain.kinds import Row


@contextmanager
def record_queries() -> Iterator[list[str]]:
    """Collect the text of every query that a transaction of this process sends."""
    sent: list[str] = []
    send = Transaction.rows

    async def rows(tx: Transaction, query: str, /, **parameters: Any) -> list[Row]:
        sent.append(query)
        return await send(tx, query, **parameters)

    with patch.object(Transaction, "rows", rows):
        yield sent


@contextmanager
def record_row_counts() -> Iterator[list[int]]:
    """Collect how many rows every query of a transaction of this process brings."""
    brought: list[int] = []
    send = Transaction.rows

    async def rows(tx: Transaction, query: str, /, **parameters: Any) -> list[Row]:
        found = await send(tx, query, **parameters)
        brought.append(len(found))
        return found

    with patch.object(Transaction, "rows", rows):
        yield brought
