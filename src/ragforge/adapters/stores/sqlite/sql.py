"""SQL: the few statements that every table needs, over rows as mappings."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import apsw

from ragforge.adapters.stores.sqlite.file_texts import add_functions
from ragforge.domain.kinds import CleanRow, Kind, Row
from ragforge.domain.schema import LISTS
from ragforge.domain.text import check_text
from ragforge.errors import DuplicateId

EMPTY = "[]"
"""Most lists are: they need not be parsed."""


class Connection(apsw.Connection):
    """A connection with the few statements that every table needs, over rows as mappings."""

    def __init__(self, filename: str, **options: Any) -> None:
        super().__init__(filename, **options)
        add_functions(self)

    def rows(self, statement: str, bindings: Any = ()) -> Iterator[Row]:
        """Yield the rows of a query as mappings, with lists as lists."""
        cursor = self.execute(statement, bindings)
        names: list[str] = []
        lists: list[str] = []
        for values in cursor:
            if not names:
                names = [column[0] for column in cursor.get_description()]
                lists = [name for name in names if name in LISTS]
            row = dict(zip(names, values, strict=True))
            for name in lists:
                row[name] = [] if row[name] == EMPTY else json.loads(row[name])
            yield row

    def row(self, statement: str, bindings: Any = ()) -> Row | None:
        """Return the first row of a query, or None."""
        return next(self.rows(statement, bindings), None)

    def value(self, statement: str, bindings: Any = ()) -> Any:
        """Return the only value of a query, or None."""
        return self.execute(statement, bindings).get

    def column(self, statement: str, bindings: Any = ()) -> list[Any]:
        """Return the first value of each row."""
        return [row[0] for row in self.execute(statement, bindings)]

    def read_item(self, kind: Kind[Any, Any], item_id: str) -> Row:
        """Return the row of an item. Raises a NotFound."""
        check_text(f"{kind.name}_id", item_id)
        row = self.row(f"SELECT * FROM {kind.name} WHERE {kind.key} = ?", (item_id,))
        if row is None:
            raise kind.missing(item_id)
        return row

    def insert(self, table: str, row: CleanRow) -> int:
        """Add a row and return its rowid. Raises DuplicateId if its uuid is taken."""
        try:
            self.execute(_format_insert(table, row), encode(row))
        except apsw.ConstraintError as error:
            _check_taken(error, table, row)
            raise
        return self.last_insert_rowid()

    def insert_many(self, table: str, names: Sequence[str], rows: Iterable[CleanRow]) -> None:
        """Add rows of which these columns are stored; none of them is a list.

        Raises DuplicateId if the uuid of one is taken.
        """
        last = CleanRow({})
        stored = itemgetter(*names)

        def values() -> Iterator[tuple[Any, ...]]:
            nonlocal last
            for last in rows:
                yield stored(last)

        try:
            self.executemany(_format_insert(table, names), values())
        except apsw.ConstraintError as error:
            _check_taken(error, table, last)
            raise

    def upsert(self, table: str, row: CleanRow, key: Sequence[str]) -> None:
        """Add a row, or change the one with its key."""
        changes = ", ".join(f"{name} = excluded.{name}" for name in row if name not in key)
        action = f"UPDATE SET {changes}" if changes else "NOTHING"
        statement = f"{_format_insert(table, row)} ON CONFLICT ({', '.join(key)}) DO {action}"
        self.execute(statement, encode(row))


def _format_insert(table: str, names: Collection[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


def _check_taken(error: apsw.ConstraintError, table: str, row: CleanRow) -> None:
    """Raise DuplicateId if the error says that the uuid of a row is taken."""
    if f"{table}.uuid" in str(error):
        raise DuplicateId(table.replace("_", " "), row["uuid"]) from error


def encode(row: Row) -> list[Any]:
    """Return a row's values as SQLite takes them."""
    return [json.dumps(item) if isinstance(item, list) else item for item in row.values()]


def as_json(items: Iterable[Any]) -> str:
    """Return values for `IN (SELECT value FROM json_each(?))`: any number of them."""
    return json.dumps(list(items))


class SqlFilter:
    """Conditions that must all hold, with their bindings."""

    def __init__(self) -> None:
        self._conditions = ["1"]
        self.bindings: list[Any] = []
        self.keys: list[list[str]] = []  # of each, a full-text search may demand one
        self.keys_say_all = False  # whether they are all that the conditions demand

    def add(self, condition: str, *bindings: Any) -> SqlFilter:
        """Add a condition, unless its (first) binding is None."""
        if not bindings or bindings[0] is not None:
            self._conditions.append(condition)
            self.bindings += bindings
        return self

    def __str__(self) -> str:
        return " AND ".join(self._conditions)

    def __bool__(self) -> bool:
        return len(self._conditions) > 1


def add_any(where: SqlFilter, column_name: str, values: Sequence[str] | None) -> SqlFilter:
    """Add: the column has one of these values, unless they are None."""
    given = None if values is None else as_json(values)
    return where.add(f"{column_name} IN (SELECT value FROM json_each(?))", given)


def add_under(where: SqlFilter, column_name: str, path: str | None) -> SqlFilter:
    """Add: the path is this file, or is below this directory (`src/a` is not `src/ab`)."""
    if path is None or not (path := path.strip("/")):
        return where
    # All paths below `p` sort between `p/` and `p0`, for 0 follows / in ASCII.
    condition = f"({column_name} = ? OR ({column_name} > ? AND {column_name} < ?))"
    return where.add(condition, path, f"{path}/", f"{path}0")
