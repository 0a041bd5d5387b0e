"""Items of every kind in SQLite."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import apsw

from ragforge.adapters.stores.sqlite import (
    conversation_rows,
    messages,
    scope_rows,
    summary_rows,
    vectors,
    words,
)
from ragforge.adapters.stores.sqlite.database import SqliteDatabase
from ragforge.adapters.stores.sqlite.filters import make_filter
from ragforge.adapters.stores.sqlite.sql import EMPTY, Connection, as_json
from ragforge.adapters.stores.sqlite.visibility import check_own, is_hidden
from ragforge.domain.conversations import AGENT
from ragforge.domain.kinds import CleanRow, Data, Filter, Kind, Row
from ragforge.domain.schema import (
    CONVERSATION,
    MESSAGE,
    NOTE,
    PROJECT,
    SCOPE,
    SUMMARY,
    check_put,
    list_parts,
)
from ragforge.domain.text import check_text
from ragforge.errors import DuplicateId, NoteNotFound
from ragforge.ports.search_index import Tokeniser


class SqliteRecords:
    """Implements `Records`."""

    def __init__(self, database: SqliteDatabase, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def get(self, kind: Kind[Data, Any], item_id: str) -> Data:
        check_text(f"{kind.name}_id", item_id)
        found = await self.get_many(kind, [item_id])
        if item_id not in found:
            raise kind.missing(item_id)
        return found[item_id]

    async def get_many(self, kind: Kind[Data, Any], ids: Sequence[str]) -> dict[str, Data]:
        return await self._database.read(lambda c: read_with_ids(c, kind, ids))

    async def find(
        self,
        kind: Kind[Data, Filter],
        where: Filter,
        limit: int | None = None,
        offset: int = 0,
        order: Sequence[str] = (),
    ) -> list[Data]:
        conditions = make_filter(kind, where, self._database.viewer)
        columns = ", ".join(_format_order(name, bool(order)) for name in order or kind.order)
        rest = f"WHERE {conditions} ORDER BY {columns} LIMIT ? OFFSET ?"
        bindings = (*conditions.bindings, -1 if limit is None else limit, offset)
        return await self._database.read(lambda c: read_items(c, kind, rest, bindings))

    async def put(self, kind: Kind[Data, Any], *items: Data) -> None:
        check_put(kind)
        rows = kind.encode_all(items, self._database.redactor)

        def work(db: Connection) -> None:
            for row in rows:
                self._check_new(db, kind, row)
                put_row(db, kind, row, self._tokeniser)

        await self._database.write(work)

    def _check_new(self, db: Connection, kind: Kind[Any, Any], row: CleanRow) -> None:
        if kind is CONVERSATION:
            row.update(message_count=0, turn_count=0, total_chars=0)
        elif kind is NOTE and (older := row["supersedes"]) is not None:
            if is_hidden(db.read_item(kind, older), self._database.viewer):
                raise NoteNotFound(older)
        elif kind in list_parts():
            self._join_conversation(db, kind, row)
        elif kind is PROJECT:
            statement = """SELECT uuid FROM project
                           WHERE path = ? AND host = ? AND project_id = ? AND uuid <> ?"""
            place = (row["path"], row["host"], row["project_id"], row["uuid"])
            if db.value(statement, place) is not None:
                raise DuplicateId("project", row["path"])

    def _join_conversation(self, db: Connection, kind: Kind[Any, Any], row: CleanRow) -> None:
        """Give a new item the privacy of its conversation, which the viewer must own."""
        viewer = self._database.viewer
        owner = check_own(db, viewer, CONVERSATION, row["conversation_id"])
        if "private_to" in kind:
            row["private_to"] = owner["private_to"]
        if kind.replaces:
            elsewhere = f"SELECT 1 FROM {kind.name} WHERE {kind.key} = ? AND conversation_id <> ?"
            place = (row[kind.key], row["conversation_id"])
            if db.value(elsewhere, place) is not None:
                raise DuplicateId(kind.name, row[kind.key])

    async def update(
        self,
        kind: Kind[Data, Any],
        item_id: str,
        change: Callable[[Data], Data],
        force: bool = False,
    ) -> Data:
        def work(db: Connection) -> Data:
            before = check_own(db, self._database.viewer, kind, item_id, force)
            row = kind.encode(change(kind.decode(before)), self._database.redactor)
            db.upsert(kind.name, row, [kind.key])
            if kind.is_reworded(before, row):
                index(db, kind, row, self._tokeniser)
                vectors.remove(db, kind.name, before["id"])
            if kind is CONVERSATION and row["private_to"] != before["private_to"]:
                conversation_rows.set_visibility(db, row)
            return kind.decode(row)

        return await self._database.write(work)

    async def delete(self, kind: Kind[Any, Any], item_id: str, force: bool = False) -> None:
        def work(db: Connection) -> None:
            row = check_own(db, self._database.viewer, kind, item_id, force)
            if kind is SUMMARY:
                summary_rows.remove(db, item_id)
            elif kind is CONVERSATION and row["agent"] != AGENT:
                forget(db, item_id, self._database.viewer)
            db.execute(f"DELETE FROM {kind.name} WHERE {kind.key} = ?", (item_id,))

        await self._database.write(work)


def read_with_ids(db: Connection, kind: Kind[Data, Any], ids: Iterable[str]) -> dict[str, Data]:
    """Return items by their ids; unknown ids are left out."""
    condition = f"WHERE o.{kind.key} IN (SELECT value FROM json_each(?))"
    found = read_items(db, kind, condition, (as_json(ids),))
    return {getattr(item, kind.key): item for item in found}


def read_items(
    db: Connection, kind: Kind[Data, Any], rest: str, bindings: Sequence[Any]
) -> list[Data]:
    """Return the items that a statement finds, of which this is the rest; messages with calls."""
    if kind is MESSAGE:
        rows = list(db.rows(f"SELECT * FROM message o {rest}", bindings))
        return messages.load(db, rows)  # type: ignore[return-value]
    if kind is SCOPE:
        return scope_rows.read_scopes(db, rest, bindings)  # type: ignore[return-value]
    lists = [place for place, name in enumerate(kind.read) if name in kind.lists]
    found = db.execute(f"{_format_source(kind)} {rest}", bindings)
    return [kind.decode_values(_parse(stored, lists) if lists else stored) for stored in found]


def _parse(stored: Sequence[Any], lists: Sequence[int]) -> list[Any]:
    """Return the values of a row with lists, in these places, as lists."""
    values = list(stored)
    for place in lists:
        values[place] = () if values[place] == EMPTY else json.loads(values[place])
    return values


def _format_source(kind: Kind[Any, Any]) -> str:
    return f"SELECT {', '.join(f'o.{name}' for name in kind.read)} FROM {kind.name} o"


def _format_order(name: str, is_given: bool) -> str:
    if name[0] != "-":
        return f"o.{name}"
    # No kind is ordered by what may have no value; SQLite would not use its index.
    return f"o.{name[1:]} DESC {'NULLS FIRST' if is_given else ''}"


def put_row(db: Connection, kind: Kind[Any, Any], row: CleanRow, tokeniser: Tokeniser) -> None:
    """Store the row of an item, and its words. Raises DuplicateId."""
    if kind.replaces:
        db.upsert(kind.name, row, [kind.key])
    else:
        db.insert(kind.name, row)
    if kind.words is not None:
        index(db, kind, row, tokeniser)


def index(db: Connection, kind: Kind[Any, Any], row: Row, tokeniser: Tokeniser) -> None:
    """Set the words by which an item is found."""
    if kind.words is None:
        return
    rowid = row.get("id") or find_rowid(db, kind, row[kind.key])
    document = tokeniser.prose(kind.words(kind.decode(row)))
    words.index(db, f"{kind.name}_words", rowid, document)


def find_rowid(db: Connection, kind: Kind[Any, Any], item_id: str) -> int:
    """Return the row id of an item that is there."""
    statement = f"SELECT id FROM {kind.name} WHERE {kind.key} = ?"
    return int(db.value(statement, (item_id,)))


def forget(db: Connection, conversation_id: str, viewer: str | None) -> None:
    """Note the ids of a conversation and its messages."""
    db.execute(
        """INSERT OR IGNORE INTO forgotten
           SELECT :id, :owner UNION
           SELECT uuid, :owner FROM message WHERE conversation_id = :id""",
        {"id": conversation_id, "owner": viewer or ""},
    )


def find_forgotten(db: Connection, ids: Collection[str], viewer: str | None) -> list[str]:
    """Return which of the ids the viewer, or an administrator, has deleted."""
    statement = f"""SELECT DISTINCT f.uuid FROM json_each(?) w
                    CROSS JOIN forgotten f ON f.uuid = w.value WHERE {is_own_note(viewer)}"""
    return db.column(statement, (as_json(ids),))


def is_own_note(viewer: str | None) -> str:
    """Return the condition that the viewer, or an administrator, has deleted something."""
    return "1" if viewer is None else f"owner IN ('', {apsw.format_sql_value(viewer)})"
