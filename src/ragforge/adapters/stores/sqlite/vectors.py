"""Vectors: embeddings as BLOBs, searched in memory."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Mapping, Sequence
from operator import itemgetter, mul
from typing import TYPE_CHECKING, Any

from ragforge.adapters.stores.sqlite.packed_vectors import pack, unpack
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, as_json
from ragforge.adapters.stores.sqlite.visibility import hides_any
from ragforge.domain.kinds import CleanRow
from ragforge.domain.vectors import Vector
from ragforge.errors import DimensionMismatch

if TYPE_CHECKING:
    from ragforge.adapters.arrays import Ints
    from ragforge.adapters.stores.sqlite.matrix import FilterCache, Matrix

CHECKED_TOGETHER = 64
FEW = 300
"""Up to this many vectors are compared without numpy, which takes longer to load."""

MADE_OF = "(SELECT v.hash FROM vector v WHERE v.kind = 'scope' AND v.owner = o.id)"
"""The hash of the text that a scope's vector was made of."""


def put(
    db: Connection,
    kind: str,
    vectors: Sequence[tuple[int, Vector]],
    hashes: Mapping[int, str | None] | None = None,
) -> None:
    """Set the vectors of owners, replacing older ones, with what each was made of.

    Raises InvalidVector or DimensionMismatch.
    """
    new = dict(vectors)
    models: dict[tuple[str, int], int] = {}
    data = check_and_pack(list(new.values()))
    for vector in new.values():
        key = vector.model, vector.dimension
        if key not in models:
            models[key] = _register(db, vector)
    db.execute(
        "DELETE FROM vector WHERE kind = ? AND owner IN (SELECT value FROM json_each(?))",
        (kind, as_json(new)),
    )
    db.executemany(
        "INSERT INTO vector (kind, owner, model, data, hash) VALUES (?, ?, ?, ?, ?)",
        [
            (kind, owner, models[v.model, v.dimension], stored, hashes[owner] if hashes else None)
            for (owner, v), stored in zip(new.items(), data, strict=True)
        ],
    )


def copy_of_same_scopes(
    db: Connection, project_ids: Sequence[str], scope_ids: Sequence[str], model: str
) -> set[str]:
    """Give scopes the vectors of the same ones in other projects; return the ids of those."""
    # CROSS: SQLite would read all vectors of the model for each scope.
    statement = """
        SELECT s.uuid, s.id, v.model, v.data, v.hash
        FROM json_each(?) wanted CROSS JOIN scope s ON s.uuid = wanted.value
        CROSS JOIN json_each(?) other
        CROSS JOIN scope o ON o.project_id = other.value AND o.qualified_name = s.qualified_name
          AND +o.file = s.file AND +o.type = s.type AND o.hash = s.hash
        CROSS JOIN vector v ON v.kind = 'scope' AND v.owner = o.id AND v.hash = s.hash
          AND v.model = (SELECT id FROM model WHERE name = ?)
        WHERE o.id <> s.id"""
    given = (as_json(scope_ids), as_json(project_ids), model)
    found = {row[0]: row[1:] for row in db.execute(statement, given)}
    db.execute(
        "DELETE FROM vector WHERE kind = 'scope' AND owner IN (SELECT value FROM json_each(?))",
        (as_json(row[0] for row in found.values()),),
    )
    db.executemany(
        "INSERT INTO vector (kind, owner, model, data, hash) VALUES ('scope', ?, ?, ?, ?)",
        list(found.values()),
    )
    return set(found)


def check_and_pack(vectors: Sequence[Vector]) -> list[bytes]:
    """Return vectors as they are stored. Raise InvalidVector if one cannot be compared with others.

    Many are looked at together: one by one that takes as long as storing them.
    """
    data = [vector.data for vector in vectors]
    if len(vectors) > CHECKED_TOGETHER and len({(v.model, len(v.data)) for v in vectors}) == 1:
        from ragforge.adapters.stores.sqlite.matrix import have_directions

        if have_directions(data):
            vectors[0].check()  # the name of their model is left to check
            return pack(data)
    for vector in vectors:
        vector.check()
    return data


def remove(db: Connection, kind: str, owner: int) -> None:
    db.execute("DELETE FROM vector WHERE kind = ? AND owner = ?", (kind, owner))


def _register(db: Connection, vector: Vector) -> int:
    """Return the id of a vector's model, noting its dimension the first time."""
    if (model := _find_model(db, vector)) is not None:
        return model
    row = {"name": vector.model, "dimension": vector.dimension}
    return db.insert("model", CleanRow(row))


def _find_model(db: Connection, vector: Vector) -> int | None:
    """Return the id of a vector's model, or None if no vector of it was ever stored."""
    row = db.row("SELECT id, dimension FROM model WHERE name = ?", (vector.model,))
    if row is None:
        return None
    if row["dimension"] != vector.dimension:
        raise DimensionMismatch(vector.model, row["dimension"], vector.dimension)
    return int(row["id"])


def _read_few(
    db: Connection, kind: str, columns: str, model: int, where: SqlFilter
) -> list[tuple[Any, ...]]:
    """Return the vectors that pass a filter, if they are few, each behind the columns."""
    statement = f"""SELECT {columns}, v.data FROM {kind} o
                    JOIN vector v ON v.kind = ? AND v.owner = o.id AND v.model = ?
                    WHERE {where} LIMIT ?"""
    given = (kind, model, *where.bindings, FEW + 1)
    return db.execute(statement, given).fetchall()


def _sort_plainly(
    rows: Sequence[tuple[Any, ...]], vector: Vector, limit: int, min_score: float
) -> list[tuple[Any, ...]]:
    """Return rows without their vectors, with their scores, nearest first."""
    asked = vector.values()
    length = math.hypot(*asked)
    scored = []
    for *shown, data in rows:
        numbers = Vector(vector.model, unpack(data)).values()
        cosine = sum(map(mul, asked, numbers)) / (length * math.hypot(*numbers))
        if (score := (1 + cosine) / 2) >= min_score:
            scored.append((*shown, score))
    return sorted(scored, key=itemgetter(-1), reverse=True)[:limit]


class VectorSearch:
    """Nearest vectors, from matrices that follow the table."""

    def __init__(self, viewer: str | None = None) -> None:
        self._viewer = viewer
        self._matrices: dict[tuple[str, int], Matrix] = {}
        self._filter_cache: FilterCache | None = None
        self._lock = threading.Lock()

    def nearest(
        self,
        db: Connection,
        kind: str,
        columns: str,
        vector: Vector,
        where: SqlFilter,
        limit: int,
        min_score: float,
    ) -> list[tuple[Any, ...]]:
        """Return the owners that pass the filter, nearest first; ties by age.

        Each is a row of these columns of its table, of which it is `o`, and its score.
        The filter decides in SQL which rows take part; only those are scored.
        Raises InvalidVector or DimensionMismatch.
        """
        vector.check()
        model = _find_model(db, vector)
        if model is None or limit <= 0:
            return []
        if sys.modules.get("numpy") is None:
            few = _read_few(db, kind, columns, model, where)
            if len(few) <= FEW:
                return _sort_plainly(few, vector, limit, min_score)
        from ragforge.adapters.stores.sqlite.matrix import Matrix

        with self._lock:
            key = kind, model
            if key not in self._matrices:
                self._matrices[key] = Matrix(kind, model, vector.dimension)
            matrix = self._matrices[key]
            matrix.refresh(db)
            is_filtered = where or (kind != "scope" and hides_any(db, self._viewer))
            owners = self._get_filter_cache().read(db, kind, where) if is_filtered else None
            found = matrix.nearest(db, vector.data, owners, limit, min_score)
        statement = f"""SELECT o.id, {columns} FROM {kind} o
                        WHERE o.id IN (SELECT value FROM json_each(?))"""
        wanted = as_json(owner for owner, _ in found)
        rows = {row[0]: row[1:] for row in db.execute(statement, (wanted,))}
        # The matrix may know of an owner that is newer than this reader's view.
        return [(*rows[owner], score) for owner, score in found if owner in rows]

    def passing(self, db: Connection, kind: str, where: SqlFilter) -> Ints:
        """Return the owners that pass a filter."""
        # A connection notices what others wrote when it reads: without this it would hear of
        # it one search too late.
        db.value("SELECT 1 FROM meta")
        with self._lock:
            return self._get_filter_cache().read(db, kind, where)

    def _get_filter_cache(self) -> FilterCache:
        from ragforge.adapters.stores.sqlite.matrix import FilterCache  # imports numpy

        if self._filter_cache is None:
            self._filter_cache = FilterCache()
        return self._filter_cache
