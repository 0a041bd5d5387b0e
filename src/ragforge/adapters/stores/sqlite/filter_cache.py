"""Filter cache: the rows that pass a filter, kept in memory between questions."""

from __future__ import annotations

from typing import NamedTuple

from ragforge.adapters.arrays import Ints, np, parse_numbers
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter

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
