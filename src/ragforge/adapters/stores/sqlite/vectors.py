"""Vectors: embeddings as BLOBs, searched in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

import apsw

from ragforge.adapters.stores.sqlite.sql import Where, one, value
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
    models: dict[str, int] = {}
    for owner, vector in vectors:
        vector.check()
        if vector.model not in models:
            models[vector.model] = _register(connection, vector)
        elif vector.dimension != (known := _dimension(connection, vector.model)):
            raise DimensionMismatch(vector.model, known or 0, vector.dimension)
        remove(connection, kind, owner)
        connection.execute(
            "INSERT INTO vector (kind, owner, model, data) VALUES (?, ?, ?, ?)",
            (kind, owner, models[vector.model], vector.data),
        )


def remove(connection: apsw.Connection, kind: Kind, owner: int) -> None:
    connection.execute("DELETE FROM vector WHERE kind = ? AND owner = ?", (kind, owner))


def _register(connection: apsw.Connection, vector: Vector) -> int:
    connection.execute(
        "INSERT INTO model (name, dimension) VALUES (?, ?) ON CONFLICT DO NOTHING",
        (vector.model, vector.dimension),
    )
    return _model(connection, vector)[0]


def _model(connection: apsw.Connection, vector: Vector) -> tuple[int, int]:
    """Return the id and dimension of a vector's model; id 0 if no vector of it is stored."""
    row = one(connection, "SELECT id, dimension FROM model WHERE name = ?", (vector.model,))
    if row is None:
        return 0, vector.dimension
    if row["dimension"] != vector.dimension:
        raise DimensionMismatch(vector.model, row["dimension"], vector.dimension)
    return row["id"], row["dimension"]


def _dimension(connection: apsw.Connection, model: str) -> int | None:
    dimension = value(connection, "SELECT dimension FROM model WHERE name = ?", (model,))
    return None if dimension is None else int(dimension)


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
        model, dimension = _model(connection, vector)
        if not model or limit <= 0:
            return []
        with self._lock:
            matrix = self._matrices.setdefault((kind, model), Matrix(kind, model, dimension))
            matrix.refresh(connection)
            owners = None
            if where:
                ids = f"SELECT group_concat(o.id) FROM {kind} o WHERE {where}"
                owners = numbers(value(connection, ids, where.bindings))
            found = matrix.nearest(connection, vector.data, owners, limit, min_score)
        return [
            Match(value(connection, f"SELECT {identity} FROM {kind} WHERE id = ?", (owner,)), score)
            for owner, score in found
        ]
