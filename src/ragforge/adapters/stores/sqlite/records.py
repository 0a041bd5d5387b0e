"""Items of every kind in SQLite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import apsw

from ragforge.adapters.stores.sqlite import (
    conversation_rows,
    messages,
    summary_rows,
    vectors,
    words,
)
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.filters import make_filter
from ragforge.adapters.stores.sqlite.forgotten import forget
from ragforge.adapters.stores.sqlite.sql import (
    as_json,
    insert,
    read_row,
    select,
    select_value,
    upsert,
)
from ragforge.adapters.stores.sqlite.viewers import check_own, is_hidden
from ragforge.domain.authors import AGENT
from ragforge.domain.kinds import CleanRow, Data, Filter, Kind, Row
from ragforge.domain.schema import (
    CONVERSATION,
    MESSAGE,
    NOTE,
    PROJECT,
    SUMMARY,
    check_put,
    list_parts,
)
from ragforge.errors import DuplicateId, NoteNotFound
from ragforge.ports.words import Tokeniser


class SqliteRecords:
    """Keeps the promises of `Records`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def get(self, kind: Kind[Data, Any], item_id: str) -> Data:
        def work(connection: apsw.Connection) -> Data:
            return decode(connection, kind, [read_row(connection, kind, item_id)])[0]

        return await self._database.read(work)

    async def get_many(self, kind: Kind[Data, Any], ids: Sequence[str]) -> dict[str, Data]:
        return await self._database.read(lambda c: read_with_ids(c, kind, ids))

    async def find(
        self, kind: Kind[Data, Filter], where: Filter, limit: int | None = None, offset: int = 0
    ) -> list[Data]:
        conditions = make_filter(kind, where, self._database.viewer)
        order = ", ".join(f"{name[1:]} DESC" if name[0] == "-" else name for name in kind.order)
        statement = f"""SELECT * FROM {kind.name} o WHERE {conditions}
                        ORDER BY {order} LIMIT ? OFFSET ?"""
        bindings = (*conditions.bindings, -1 if limit is None else limit, offset)
        return await self._database.read(
            lambda c: decode(c, kind, list(select(c, statement, bindings)))
        )

    async def put(self, kind: Kind[Data, Any], *items: Data) -> None:
        check_put(kind)
        rows = kind.encode_all(items, self._database.redactor)

        def work(connection: apsw.Connection) -> None:
            for row in rows:
                self._check_new(connection, kind, row)
                put_row(connection, kind, row, self._tokeniser)

        await self._database.write(work)

    def _check_new(self, connection: apsw.Connection, kind: Kind[Any, Any], row: CleanRow) -> None:
        if kind is CONVERSATION:
            row.update(message_count=0, turn_count=0, total_chars=0)
        elif kind is NOTE and (older := row["supersedes"]) is not None:
            if is_hidden(read_row(connection, kind, older), self._database.viewer):
                raise NoteNotFound(older)
        elif kind in list_parts():
            self._join_conversation(connection, kind, row)
        elif kind is PROJECT:
            statement = """SELECT uuid FROM project
                           WHERE path = ? AND host = ? AND project_id = ? AND uuid <> ?"""
            place = (row["path"], row["host"], row["project_id"], row["uuid"])
            if select_value(connection, statement, place) is not None:
                raise DuplicateId("project", row["path"])

    def _join_conversation(
        self, connection: apsw.Connection, kind: Kind[Any, Any], row: CleanRow
    ) -> None:
        """Give a new item the privacy of its conversation, which may be nobody else's."""
        viewer = self._database.viewer
        owner = check_own(connection, viewer, CONVERSATION, row["conversation_id"])
        if "private_to" in kind:
            row["private_to"] = owner["private_to"]

    async def update(
        self,
        kind: Kind[Data, Any],
        item_id: str,
        change: Callable[[Data], Data],
        force: bool = False,
    ) -> Data:
        def work(connection: apsw.Connection) -> Data:
            before = check_own(connection, self._database.viewer, kind, item_id, force)
            row = kind.encode(change(kind.decode(before)), self._database.redactor)
            upsert(connection, kind.name, row, [kind.key])
            if kind.is_reworded(before, row):
                index(connection, kind, row, self._tokeniser)
                vectors.remove(connection, kind.name, before["id"])
            if kind is CONVERSATION and row["private_to"] != before["private_to"]:
                conversation_rows.set_visibility(connection, row)
            return kind.decode(row)

        return await self._database.write(work)

    async def delete(self, kind: Kind[Any, Any], item_id: str, force: bool = False) -> None:
        def work(connection: apsw.Connection) -> None:
            row = check_own(connection, self._database.viewer, kind, item_id, force)
            if kind is SUMMARY:
                summary_rows.remove(connection, item_id)
            elif kind is CONVERSATION and row["agent"] != AGENT:
                forget(connection, item_id, self._database.viewer)
            connection.execute(f"DELETE FROM {kind.name} WHERE {kind.key} = ?", (item_id,))

        await self._database.write(work)


def read_with_ids(
    connection: apsw.Connection, kind: Kind[Data, Any], ids: Sequence[str]
) -> dict[str, Data]:
    """Return items by their ids; unknown ids are left out."""
    statement = f"""SELECT {", ".join(kind.read)} FROM {kind.name}
                    WHERE {kind.key} IN (SELECT value FROM json_each(?))"""
    rows = list(select(connection, statement, (as_json(ids),)))
    return {
        row[kind.key]: item for row, item in zip(rows, decode(connection, kind, rows), strict=True)
    }


def decode(connection: apsw.Connection, kind: Kind[Data, Any], rows: Sequence[Row]) -> list[Data]:
    """Return the items of rows; messages with their calls."""
    if kind is MESSAGE:
        return messages.load(connection, rows)  # type: ignore[return-value]
    return [kind.decode(row) for row in rows]


def put_row(
    connection: apsw.Connection, kind: Kind[Any, Any], row: CleanRow, tokeniser: Tokeniser
) -> None:
    """Store the row of an item, and its words. Raises DuplicateId."""
    if kind.replaces:
        upsert(connection, kind.name, row, [kind.key])
    else:
        insert(connection, kind.name, row)
    if kind.words is not None:
        index(connection, kind, row, tokeniser)


def index(
    connection: apsw.Connection, kind: Kind[Any, Any], row: Row, tokeniser: Tokeniser
) -> None:
    """Set the words by which an item is found."""
    if kind.words is None:
        return
    rowid = row.get("id") or find_rowid(connection, kind, row[kind.key])
    document = tokeniser.prose(kind.words(kind.decode(row)))
    words.index(connection, f"{kind.name}_words", rowid, document)


def find_rowid(connection: apsw.Connection, kind: Kind[Any, Any], item_id: str) -> int:
    """Return the row id of an item that is there."""
    statement = f"SELECT id FROM {kind.name} WHERE {kind.key} = ?"
    return int(select_value(connection, statement, (item_id,)))
