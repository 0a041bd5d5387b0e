"""Matrix: what is kept in memory between questions: vectors, and the rows that pass a filter.

Short vectors are kept whole and scored exactly. Long ones, once there are many, are kept
as one bit a dimension: the nearest by bits are read from the file and scored exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from ragforge.adapters.arrays import Bits, Floats, Ints, NDArray, np, parse_numbers
from ragforge.adapters.stores.sqlite.packed_vectors import normalise, unpack_all
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter

WHOLE_DIMENSIONS = 512
WHOLE_ROWS = 20_000
CANDIDATES = 100
"""How many times the limit are re-scored: static models lose neighbours below that."""
GATHER_SHARE = 3
"""If fewer than one row in this many is chosen, copying those is cheaper than scoring all."""
KEPT_ROWS = 4_096
LOADED_TOGETHER = 1_024
GATHERED_ROWS = 256
"""How many rows are copied at a time: what stays in the processor's cache is not written out."""


def have_directions(data: Sequence[bytes]) -> bool:
    """Tell whether vectors of one length are all float32 numbers with a direction."""
    if not data[0] or len(data[0]) % 4:
        return False
    rows = np.frombuffer(b"".join(data), "<f4").reshape(len(data), -1)
    squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return bool((np.isfinite(squares) & (squares > 0)).all())


class Matrix:
    """Rows of unit vectors with the ids of their owners."""

    def __init__(self, kind: str, model: int, dimension: int) -> None:
        self._kind = kind
        self._model = model
        self._dimension = dimension
        self._deleted = 0
        self._newest = 0
        self._ids = np.empty(0, np.int64)
        self._owners = np.empty(0, np.int64)
        self._whole: Floats | None = np.empty((0, self._dimension), np.float32)
        self._bits: Bits = np.empty((0, self._words), np.uint64)
        self._count = 0
        self._row_of: Ints | None = None
        self._kept: tuple[Ints, Floats] | None = None

    @property
    def _words(self) -> int:
        return -(-self._dimension // 64)

    def refresh(self, db: Connection) -> None:
        """Load what was added and drop what was deleted since the last time.

        Both only grow. A reader whose view is older than the matrix leaves it as it is.
        """
        deleted, newest = db.execute(
            """SELECT value, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vector'), 0)
               FROM meta WHERE name = 'vectors_deleted'"""
        ).get
        if deleted < self._deleted or newest < self._newest:
            return
        if deleted > self._deleted:
            self._drop_deleted(db)
        if newest > self._newest:
            self._load_new(db)
        self._deleted, self._newest = deleted, newest

    def _load_new(self, db: Connection) -> None:
        if not self._count:
            every = "SELECT count(*) FROM vector WHERE kind = ? AND model = ?"
            self._make_room(db.execute(every, (self._kind, self._model)).get)
        rows = db.execute(
            # The + keeps SQLite from reading the whole of an index to find a few new rows.
            """SELECT id, owner, data FROM vector
               WHERE id > ? AND +kind = ? AND +model = ? ORDER BY id""",
            (self._newest, self._kind, self._model),
        )
        while batch := list(islice(rows, LOADED_TOGETHER)):
            self._add(batch)
            if self._whole is not None and self._is_long:
                self._bits = _to_bits(self._whole[: self._count])
                self._whole = None

    @property
    def _is_long(self) -> bool:
        return self._dimension > WHOLE_DIMENSIONS and self._count > WHOLE_ROWS

    def _drop_deleted(self, db: Connection) -> None:
        if not self._count:
            return
        ids = """SELECT group_concat(id) FROM vector INDEXED BY vector_by_model
                 WHERE kind = ? AND model = ?"""
        alive = parse_numbers(db.execute(ids, (self._kind, self._model)).get)
        keep = np.isin(self._ids[: self._count], alive)
        if keep.all():
            return
        self._ids = self._ids[: self._count][keep]
        self._owners = self._owners[: self._count][keep]
        if self._whole is None:
            self._bits = self._bits[: self._count][keep]
        else:
            self._whole = self._whole[: self._count][keep]
        self._count = len(self._ids)
        self._row_of = self._kept = None

    def _add(self, batch: list[tuple[int, int, bytes]]) -> None:
        ids, owners, data = zip(*batch, strict=True)
        vectors = unpack_all(data, self._dimension)
        start, end = self._count, self._count + len(batch)
        self._make_room(end)
        self._ids[start:end] = ids
        self._owners[start:end] = owners
        if self._whole is None:
            self._bits[start:end] = _to_bits(vectors)
        else:
            self._whole[start:end] = vectors
        self._count, self._row_of, self._kept = end, None, None

    def _make_room(self, rows: int) -> None:
        self._ids = _reserve(self._ids, rows)
        self._owners = _reserve(self._owners, rows)
        if self._whole is None:
            self._bits = _reserve(self._bits, rows)
        else:
            self._whole = _reserve(self._whole, rows)

    def nearest(
        self, db: Connection, data: bytes, owners: Ints | None, limit: int, min_score: float
    ) -> list[tuple[int, float]]:
        """Return the nearest owners with their scores, best first.

        With `owners`, only those take part.
        """
        query = normalise(np.frombuffer(data, "<f4").reshape(1, -1))[0]
        rows = None if owners is None else self._rows_of(owners)
        if self._whole is None:
            rows, vectors = self._read_stored(
                db, self._nearest_by_bits(query, rows, limit * CANDIDATES)
            )
            cosines = vectors @ query
        elif rows is None:
            cosines = self._whole[: self._count] @ query
        elif len(rows) * GATHER_SHARE < self._count:
            cosines = self._some(self._whole, rows, query)
        else:
            cosines = (self._whole[: self._count] @ query)[rows]
        best = _pick_top(cosines, limit)
        scores = np.clip((1.0 + cosines[best].astype(np.float64)) / 2.0, 0.0, 1.0)
        chosen = self._owners[best if rows is None else rows[best]]
        pairs = zip(chosen.tolist(), scores.tolist(), strict=True)
        return [(owner, score) for owner, score in pairs if score >= min_score]

    def _some(self, vectors: Floats, rows: Ints, query: Floats) -> Floats:
        """Return the products of some rows with the query.

        Many rows are those of a filter that comes with every query: their copy is kept.
        """
        if len(rows) < KEPT_ROWS:
            return _multiply_rows(vectors, rows, query)
        if self._kept is None or not np.array_equal(self._kept[0], rows):
            self._kept = rows, vectors[rows]
        products: Floats = self._kept[1] @ query
        return products

    def _rows_of(self, owners: Ints) -> Ints:
        """Return the rows of these owners; owners without a vector have none."""
        if self._row_of is None:
            mine = self._owners[: self._count]
            # Owners are row ids, dense enough for a table that is a look-up away.
            self._row_of = np.full(int(mine.max(initial=0)) + 1, -1, np.int64)
            self._row_of[mine] = np.arange(self._count)
        rows = self._row_of[owners[owners < len(self._row_of)]]
        return rows[rows >= 0]

    def _nearest_by_bits(self, query: Floats, rows: Ints | None, wanted: int) -> Ints:
        bits = self._bits[: self._count] if rows is None else self._bits[rows]
        distance = np.bitwise_count(bits ^ _to_bits(query.reshape(1, -1))).sum(1, dtype=np.int32)
        nearest = _pick_top(-distance, wanted)
        return np.sort(nearest if rows is None else rows[nearest])

    def _read_stored(self, db: Connection, rows: Ints) -> tuple[Ints, Floats]:
        """Read the vectors of these rows; those the reader's view does not hold are left out."""
        ids = self._ids[rows]
        statement = """SELECT id, data FROM vector
                       WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"""
        found: dict[int, bytes] = dict(db.execute(statement, (str(ids.tolist()),)))
        held = rows[np.isin(ids, list(found))]  # both in the order of ids
        return held, unpack_all(list(found.values()), self._dimension)


def _multiply_rows(vectors: Floats, rows: Ints, query: Floats) -> Floats:
    """Return the products of some rows with the query."""
    products = np.empty(len(rows), np.float32)
    block = np.empty((min(len(rows), GATHERED_ROWS), vectors.shape[1]), np.float32)
    for start in range(0, len(rows), GATHERED_ROWS):
        chosen = rows[start : start + GATHERED_ROWS]
        held = block[: len(chosen)]
        np.take(vectors, chosen, axis=0, out=held, mode="clip")  # without another copy
        np.matmul(held, query, out=products[start : start + len(chosen)])
    return products


def _to_bits(vectors: Floats) -> Bits:
    packed = np.packbits(vectors > 0, axis=1)
    padding = -packed.shape[1] % 8
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, padding)))).view(np.uint64)


def _reserve(rows: NDArray, size: int) -> NDArray:  # type: ignore[type-arg]
    """Return an array with room for `size` rows; growing by halves keeps appends cheap."""
    if size <= len(rows):
        return rows
    grown = np.empty((max(size, len(rows) * 3 // 2), *rows.shape[1:]), rows.dtype)
    grown[: len(rows)] = rows
    return grown


def _pick_top(scores: NDArray, limit: int) -> Ints:  # type: ignore[type-arg]
    """Return the places of the highest scores, best first, ties by place."""
    if limit < len(scores):
        kept = np.argpartition(scores, len(scores) - limit)[len(scores) - limit :]
        # argpartition splits ties at the border anyhow: take all of them, then order.
        kept = np.flatnonzero(scores >= scores[kept].min())
    else:
        kept = np.arange(len(scores))
    return kept[np.lexsort((kept, -scores[kept]))][:limit]


KEPT_FILTERS = 64
"""How many filters' rows are remembered: a few for each reader, and those of one question."""


class _Kept(NamedTuple):
    """The rows that passed a filter, and when that was read."""

    seen: tuple[int, int]
    rows: Ints


class FilterCache:
    """The rows of each table that pass a filter.

    For turns, only what was added is read after a write. Other tables, which are smaller or
    seldom written, are read as a whole after a write.
    """

    def __init__(self) -> None:
        self._kept: dict[object, _Kept] = {}

    def read(self, db: Connection, table: str, where: SqlFilter) -> Ints:
        """Return the ids of the rows that pass, in no order."""
        name = (table, str(where), tuple(where.bindings))
        if table == "turn":
            return self._follow_turns(db, name, where)
        key = (id(db), *name)
        seen = (db.data_version(), db.total_changes())
        known = self._kept.get(key)
        rows = known.rows if known and known.seen == seen else _read_all(db, table, where)
        return self._keep(key, _Kept(seen, rows))

    def _follow_turns(self, db: Connection, key: object, where: SqlFilter) -> Ints:
        """Return the turns that pass.

        A reader whose view is older than what is known takes it as it is: what it does not see
        yet it does not find either.
        """
        changed, newest = db.execute(
            """SELECT value, (SELECT coalesce(max(id), 0) FROM main.turn)
               FROM meta WHERE name = 'turns_changed'"""
        ).get
        known = self._kept.get(key)
        if known is None or changed > known.seen[0]:
            known = _Kept((changed, newest), _read_all(db, "turn", where))
        elif changed == known.seen[0] and newest > known.seen[1]:
            new = _read_newer(db, known.seen[1], where)
            known = _Kept((changed, newest), np.concatenate((known.rows, new)))
        return self._keep(key, known)

    def _keep(self, key: object, kept: _Kept) -> Ints:
        self._kept.pop(key, None)
        if len(self._kept) >= KEPT_FILTERS:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = kept  # now the last to be forgotten
        return kept.rows


def _read_all(db: Connection, table: str, where: SqlFilter) -> Ints:
    ids = f"SELECT group_concat(o.id) FROM {table} o WHERE {where}"
    return parse_numbers(db.value(ids, where.bindings))


def _read_newer(db: Connection, newest: int, where: SqlFilter) -> Ints:
    # CROSS: the few new ones come first. SQLite would look at all turns of a project.
    ids = f"""SELECT group_concat(o.id) FROM main.turn new CROSS JOIN turn o ON o.id = new.id
              WHERE new.id > ? AND {where}"""
    return parse_numbers(db.value(ids, (newest, *where.bindings)))
