"""Notes in SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from ragforge.adapters.stores.rows import NOTE
from ragforge.adapters.stores.sqlite import vectors as vector_rows
from ragforge.adapters.stores.sqlite import words
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.sql import (
    Where,
    add_any,
    as_json,
    insert,
    select,
    select_column,
    select_one,
    select_value,
)
from ragforge.adapters.stores.sqlite.vectors import VectorSearch
from ragforge.adapters.stores.sqlite.viewers import check_own, is_hidden, is_own_row
from ragforge.adapters.stores.table import Row
from ragforge.domain.hits import Match
from ragforge.domain.instants import to_epoch_ms
from ragforge.domain.notes import Note, NoteFilter, format_note_for_search
from ragforge.domain.text import check_text
from ragforge.domain.vectors import Vector
from ragforge.errors import NoteNotFound
from ragforge.ports.words import Tokeniser

_CURRENT = "NOT EXISTS (SELECT 1 FROM note newer WHERE newer.supersedes = o.uuid)"


class SqliteNotes:
    """Keeps the promises of `NoteStore`."""

    def __init__(self, database: Database, tokeniser: Tokeniser, vectors: VectorSearch) -> None:
        self._database = database
        self._tokeniser = tokeniser
        self._vectors = vectors

    async def add(self, note: Note) -> None:
        def work(connection: apsw.Connection) -> None:
            if note.supersedes is not None and is_hidden(
                _read_row(connection, note.supersedes), self._database.viewer
            ):
                raise NoteNotFound(note.supersedes)
            put(connection, note, self._tokeniser)

        await self._database.write(work)

    async def get(self, note_id: str) -> Note:
        return NOTE.decode(await self._database.read(lambda c: _read_row(c, note_id)))

    async def with_ids(self, note_ids: Sequence[str]) -> dict[str, Note]:
        statement = "SELECT * FROM note WHERE uuid IN (SELECT value FROM json_each(?))"
        ids = as_json(note_ids)
        return await self._database.read(
            lambda c: {row["uuid"]: NOTE.decode(row) for row in select(c, statement, (ids,))}
        )

    async def starting_with(self, prefix: str, limit: int = 10) -> list[Note]:
        check_text("note_id", prefix)
        statement = "SELECT * FROM note WHERE substr(uuid, 1, ?) = ? ORDER BY uuid LIMIT ?"
        bindings = (len(prefix), prefix, limit)
        return await self._database.read(
            lambda c: [NOTE.decode(row) for row in select(c, statement, bindings)]
        )

    async def find(self, where: NoteFilter, limit: int = 50, offset: int = 0) -> list[Note]:
        conditions = _make_filter(where)
        statement = f"""SELECT * FROM note o WHERE {conditions}
                        ORDER BY created_ms DESC, uuid LIMIT ? OFFSET ?"""
        bindings = (*conditions.bindings, limit, offset)
        return await self._database.read(
            lambda c: [NOTE.decode(row) for row in select(c, statement, bindings)]
        )

    async def delete(self, note_id: str, force: bool = False) -> None:
        def work(connection: apsw.Connection) -> None:
            check_own(connection, self._database.viewer, "note", note_id, force)
            connection.execute("DELETE FROM note WHERE uuid = ?", (note_id,))

        await self._database.write(work)

    async def embed(self, vectors: Mapping[str, Vector]) -> None:
        def work(connection: apsw.Connection) -> None:
            for uuid in vectors:
                check_own(connection, self._database.viewer, "note", uuid)
            owners = [
                (_read_row(connection, uuid)["id"], vector) for uuid, vector in vectors.items()
            ]
            vector_rows.put(connection, "note", owners)

        await self._database.write(work)

    async def to_embed(self, model: str, limit: int) -> list[str]:
        statement = f"""
            SELECT o.uuid FROM note o WHERE NOT EXISTS (
              SELECT 1 FROM vector v JOIN model m ON m.id = v.model
              WHERE v.kind = 'note' AND v.owner = o.id AND m.name = ?)
              AND {is_own_row(self._database.viewer, "o")}
            ORDER BY o.created_ms, o.id LIMIT ?"""
        return await self._database.read(lambda c: select_column(c, statement, (model, limit)))

    async def by_words(self, query: str, where: NoteFilter, limit: int) -> list[Match]:
        wanted = self._tokeniser.query(query)
        conditions = _make_filter(where)

        def work(connection: apsw.Connection) -> list[Match]:
            found = words.search(
                connection, "note_words", "note", "o.uuid", wanted, conditions, limit
            )
            return [Match(*row) for row in found]

        return await self._database.read(work)

    async def by_vector(
        self, vector: Vector, where: NoteFilter, limit: int, min_score: float = 0.0
    ) -> list[Match]:
        conditions = _make_filter(where)
        found = await self._database.read(
            lambda c: self._vectors.nearest(
                c, "note", "o.uuid", vector, conditions, limit, min_score
            )
        )
        return [Match(*row) for row in found]

    async def by_words_and_vector(
        self,
        query: str,
        vector: Vector | None,
        where: NoteFilter,
        limit: int,
        min_score: float = 0.0,
    ) -> tuple[list[Match], list[Match], dict[str, Note]]:
        near = [] if vector is None else await self.by_vector(vector, where, limit, min_score)
        matched = await self.by_words(query, where, limit)
        ids = [match.id for match in (*matched, *near)]
        return matched, near, await self.with_ids(ids) if ids else {}


def put(connection: apsw.Connection, note: Note, tokeniser: Tokeniser) -> int:
    """Store a new note and return its rowid. Raises DuplicateId."""
    rowid = insert(connection, "note", NOTE.encode(note))
    index(connection, rowid, note, tokeniser)
    return rowid


def index(connection: apsw.Connection, rowid: int, note: Note, tokeniser: Tokeniser) -> None:
    """Set the words by which a note is found."""
    words.index(connection, "note_words", rowid, tokeniser.prose(format_note_for_search(note)))


def read_of_conversation(connection: apsw.Connection, conversation_id: str) -> list[Note]:
    """Return the notes that were made in a conversation, oldest first."""
    statement = "SELECT * FROM note WHERE conversation_id = ? ORDER BY created_ms, uuid"
    return [NOTE.decode(row) for row in select(connection, statement, (conversation_id,))]


def pick_unknown(connection: apsw.Connection, notes: Sequence[Note]) -> list[Note]:
    """Return those of some notes that are not in the store."""
    statement = "SELECT uuid FROM note WHERE uuid IN (SELECT value FROM json_each(?))"
    known = set(select_column(connection, statement, (as_json(note.uuid for note in notes),)))
    return [note for note in notes if note.uuid not in known]


def find_rowid(connection: apsw.Connection, note_id: str) -> int:
    return int(select_value(connection, "SELECT id FROM note WHERE uuid = ?", (note_id,)))


def _read_row(connection: apsw.Connection, note_id: str) -> Row:
    check_text("note_id", note_id)
    row = select_one(connection, "SELECT * FROM note WHERE uuid = ?", (note_id,))
    if row is None:
        raise NoteNotFound(note_id)
    return row


def _make_filter(where: NoteFilter) -> Where:
    conditions = add_any(Where(), "o.project_id", where.project_ids)
    conditions.add("o.conversation_id = ?", where.conversation_id)
    conditions.add("o.text = ?", where.text)
    if not where.with_superseded:
        conditions.add(_CURRENT)
    if where.tags:
        any_of = "SELECT 1 FROM json_each(o.tags) t JOIN json_each(?) w ON w.value = t.value"
        conditions.add(f"EXISTS ({any_of})", as_json(where.tags))
    if where.since is not None:
        conditions.add("o.created_ms >= ?", to_epoch_ms(where.since))
    if where.until is not None:
        conditions.add("o.created_ms <= ?", to_epoch_ms(where.until))
    return conditions
