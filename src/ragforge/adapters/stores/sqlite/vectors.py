"""Vectors: embeddings as BLOBs, searched in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

import apsw

from ragforge.adapters.stores.sqlite.sql import Where, insert, one, value
from ragforge.domain.hits import Match
from ragforge.domain.vectors import Vector
from ragforge.errors import DimensionMismatch

if TYPE_CHECKING:
    from ragforge.adapters.stores.sqlite.matrix import Matrix

Kind: TypeAlias = Literal["turn", "conversation", "summary", "scope"]


def put(connection: apsw.Connection, kind: Kind, vectors: Iterable[tuple[int, Vector]]) -> None:
    """Set the vectors of owners, replacing older ones.

    Raises InvalidVector or DimensionMismatch.
    """
    for owner, vector in vectors:
        vector.check()
        remove(connection, kind, owner)
        connection.execute(
            "INSERT INTO vector (kind, owner, model, data) VALUES (?, ?, ?, ?)",
            (kind, owner, _register(connection, vector), vector.data),
        )


def remove(connection: apsw.Connection, kind: Kind, owner: int) -> None:
    connection.execute("DELETE FROM vector WHERE kind = ? AND owner = ?", (kind, owner))


def _register(connection: apsw.Connection, vector: Vector) -> int:
    """Return the id of a vector's model, noting its dimension the first time."""
    if (model := _model(connection, vector)) is not None:
        return model
    row = {"name": vector.model, "dimension": vector.dimension}
    return insert(connection, "model", row)


def _model(connection: apsw.Connection, vector: Vector) -> int | None:
    """Return the id of a vector's model, or None if no vector of it was ever stored."""
    row = one(connection, "SELECT id, dimension FROM model WHERE name = ?", (vector.model,))
    if row is None:
        return None
    if row["dimension"] != vector.dimension:
        raise DimensionMismatch(vector.model, row["dimension"], vector.dimension)
    return int(row["id"])


class VectorSearch:
    """Nearest vectors, from matrices that follow the table."""

    def __init__(self) -> None:
        self._matrices: dict[tuple[Kind, int], Matrix] = {}
        self._lock = threading.Lock()

    def nearest(
        self,
        connection: apsw.Connection,
        kind: Kind,
        identity: str,
        vector: Vector,
        where: Where,
        limit: int,
        min_score: float,
    ) -> list[Match]:
        """Return the owners that pass the filter, nearest first; ties by age.

        The filter decides in SQL which rows take part; only those are scored.
        Raises InvalidVector or DimensionMismatch.
        """
        from ragforge.adapters.stores.sqlite.matrix import Matrix, numbers

        vector.check()
        model = _model(connection, vector)
        if model is None or limit <= 0:
            return []
        with self._lock:
            key = kind, model
            if key not in self._matrices:
                self._matrices[key] = Matrix(kind, model, vector.dimension)
            matrix = self._matrices[key]
            matrix.refresh(connection)
            owners = None
            if where:
                ids = f"SELECT group_concat(o.id) FROM {kind} o WHERE {where}"
                owners = numbers(value(connection, ids, where.bindings))
            found = matrix.nearest(connection, vector.data, owners, limit, min_score)
        name = f"SELECT {identity} FROM {kind} WHERE id = ?"
        named = [(value(connection, name, (owner,)), score) for owner, score in found]
        # The matrix may know of an owner that is newer than this reader's view.
        return [Match(uuid, score) for uuid, score in named if uuid is not None]
