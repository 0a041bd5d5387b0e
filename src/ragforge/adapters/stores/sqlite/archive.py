"""All facts of a SQLite store as plain records."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable

from ragforge.adapters.stores.sqlite import (
    messages,
    records,
    relations,
    scope_rows,
    summary_rows,
    vectors,
)
from ragforge.adapters.stores.sqlite.database import SqliteDatabase
from ragforge.adapters.stores.sqlite.file_texts import PLACES
from ragforge.adapters.stores.sqlite.packed_vectors import unpack
from ragforge.adapters.stores.sqlite.records import is_own_note
from ragforge.adapters.stores.sqlite.relations import add_directories
from ragforge.adapters.stores.sqlite.sql import Connection, as_json
from ragforge.domain.code import Relation
from ragforge.domain.conversation_bundle import Bundle, clean_bundle, drop_notes, group_by
from ragforge.domain.kinds import STORED, CleanRow, Row
from ragforge.domain.projects import keep_both
from ragforge.domain.schema import CHECKOUT, CONVERSATION, KINDS, OWNERS, list_embedded
from ragforge.domain.vectors import Vector
from ragforge.ports.search_index import Tokeniser
from ragforge.ports.store import Record, RecordKind, check_writer, list_record_kinds
from ragforge.records import dataclass

_JOB = """key, kind, payload, iif(status = 'running', 'pending', status) AS status, attempts,
  run_after, run_after_ms, created_at, error, owner, machine"""
_BOOKMARK = "bookmark:"
_BOOKMARKS = f"(SELECT * FROM meta WHERE name >= '{_BOOKMARK}' AND name < 'bookmark;')"


@dataclass(frozen=True, slots=True)
class _Source:
    """How records are read: from where, what, ordered by which columns."""

    source: str
    columns: str = "*"
    order: tuple[str, ...] = ("uuid",)
    seen: str = "1"  # which a viewer sees; those of the tables with views are seen anyway
    inside: str | None = None  # which belong to a conversation, if any do


_KEYS = {
    "reference": ("owner_id", "scope_id"),
    "mention": ("owner_id", "kind", "target_id"),
    "branch": ("source", "target"),
    "forgotten": ("uuid", "owner"),
    "turn": ("message_id",),
    "job": ("key",),
    "meta": ("name",),
}
"""The columns that identify records without a uuid."""
_SPECIAL: dict[RecordKind, _Source] = {
    "scope": _Source(  # in files: their texts are read and written together
        scope_rows.TABLES,
        f"{scope_rows.STORED}, {vectors.MADE_OF} AS embedding_hash",
        ("o.file_id", "o.uuid"),
    ),
    "relation": _Source(relations.TABLES, relations.COLUMNS, ("r.source", "r.kind", "r.target")),
    "branch": _Source(
        "branch",
        order=("source", "target"),
        seen=" AND ".join(
            f"{end} IN (SELECT uuid FROM conversation)" for end in ("source", "target")
        ),
        inside="(source = ?1 OR target = ?1)",
    ),
    "job": _Source("job", _JOB, ("id",)),
    "bookmark": _Source(_BOOKMARKS, order=("name",)),
}
_INTERNAL = ("id", "covered_by", *PLACES)


def _list_sources(kind: RecordKind, with_data: bool = True) -> list[_Source]:
    """Return where records of a kind are read from, one source after the other."""
    if kind == "vector":
        return [
            _Source(
                f"{one.name} o JOIN vector v ON v.kind = '{one.name}' AND v.owner = o.id "
                "JOIN model m ON m.id = v.model",
                f"v.kind AS owner_kind, o.{one.key} AS owner_id, m.name AS model, "
                f"{'v.data' if with_data else 'NULL'} AS data, v.hash AS embedding_hash",
                ("v.owner",),
                inside=_is_inside(one.name),
            )
            for one in list_embedded()
        ]
    # Summaries of level 2 refer to those of level 1.
    order = ("level", "uuid") if kind == "summary" else _KEYS.get(kind, ("uuid",))
    source = _Source(kind, order=order, seen=_is_seen(kind), inside=_is_inside(kind))
    return [_SPECIAL.get(kind, source)]


def _is_seen(kind: RecordKind) -> str:
    """Return the condition that the owner of a record is seen; the others have views."""
    if kind not in OWNERS:
        return "1"
    column, owner = OWNERS[kind]
    return f"{column} IN (SELECT uuid FROM {owner} WHERE {_is_seen(owner)})"


def _is_inside(kind: RecordKind) -> str | None:
    """Return the condition that a record belongs to a conversation, or None if none of them do."""
    if kind in OWNERS:
        column, owner = OWNERS[kind]
        return f"{column} IN (SELECT uuid FROM {owner} WHERE {_is_inside(owner)})"
    if kind == "conversation":
        return "uuid = ?1"
    is_owned = kind in ("turn", "passage") or "conversation_id" in KINDS.get(kind, ())
    return "conversation_id = ?1" if is_owned else None


class SqliteArchive:
    """Implements `Archive`."""

    def __init__(self, database: SqliteDatabase, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def count(self, kind: RecordKind) -> int:
        statements = [
            f"SELECT count(*) FROM {one.source} WHERE {self._make_filter(kind, one)}"
            for one in _list_sources(kind)
        ]
        return await self._database.read(lambda c: sum(c.value(one) for one in statements))

    async def read(
        self, kind: RecordKind, after: str | None, limit: int
    ) -> list[tuple[str, Record]]:
        sources = list(enumerate(_list_sources(kind)))
        keys = [] if after is None else json.loads(after)
        first = int(keys.pop(0)) if keys and len(sources) > 1 else 0

        def work(db: Connection) -> list[tuple[str, Record]]:
            found: list[tuple[str, Record]] = []
            for number, source in sources[first:]:
                columns = ", ".join(source.order)
                where = self._make_filter(kind, source)
                given = keys if number == first else []
                if given:
                    where += f" AND ({columns}) > ({', '.join('?' * len(given))})"
                names = [f"_key{place}" for place in range(len(source.order))]
                also = map(" AS ".join, zip(source.order, names, strict=True))
                statement = f"""SELECT {source.columns}, {", ".join(also)} FROM {source.source}
                                WHERE {where} ORDER BY {columns} LIMIT ?"""
                for row in db.rows(statement, (*given, limit - len(found))):
                    cursor = [number] if len(sources) > 1 else []
                    cursor += [row.pop(name) for name in names]
                    found.append((json.dumps(cursor), _complete(db, kind, row)))
            return found

        return await self._database.read(work)

    async def conversation(self, conversation_id: str, with_vectors: bool = True) -> Bundle:
        def work(db: Connection) -> Bundle:
            db.read_item(CONVERSATION, conversation_id)
            found: defaultdict[RecordKind, list[Row]] = defaultdict(list)
            for kind in list_record_kinds():
                for source in _list_sources(kind, with_vectors):
                    if source.inside is not None:
                        where = f"{source.inside} AND {self._make_filter(kind, source)}"
                        statement = f"SELECT {source.columns} FROM {source.source} WHERE {where}"
                        rows = db.rows(statement, (conversation_id,))
                        found[kind] += [_complete(db, kind, row) for row in list(rows)]
            return found

        return await self._database.read(work)

    async def write(self, bundle: Bundle, new: bool = False) -> None:
        check_writer(self._database.viewer, bundle, new)
        # Before the transaction, so that other processes can write meanwhile.
        rows = await asyncio.to_thread(clean_bundle, bundle, self._database.redactor, new)

        def work(db: Connection) -> None:
            if new:
                _leave_out_known(db, rows)
            writing = _Writing(db, self._tokeniser, new)
            for kind in (*list_record_kinds(), "bookmark"):
                if kind == "vector":  # passages must be there before their vectors
                    writing.index_turns(rows)
                if found := rows.get(kind):
                    _WRITERS.get(kind, _Writing.put_all)(writing, kind, found)

        await self._database.write(work)

    def _make_filter(self, kind: RecordKind, source: _Source) -> str:
        """Return the condition that the viewer may see a record."""
        viewer = self._database.viewer
        if viewer is None:
            return "1"
        if kind == "forgotten":
            return is_own_note(viewer)
        return source.seen


def _complete(db: Connection, kind: RecordKind, row: Row) -> Row:
    """Return the record of a row."""
    for name in _INTERNAL:
        row.pop(name, None)
    if kind == "scope":
        del row["project_id"]
    elif kind == "summary":
        row["covers"] = [str(turn) for turn in summary_rows.read_covered(db, row["uuid"])]
    elif kind == "vector" and row["data"] is not None:
        row["data"] = unpack(row["data"])
    elif kind == "bookmark":
        row["name"] = row["name"].removeprefix(_BOOKMARK)
    for name in {"success", "summary_trimmed", "link_pending", "is_rule"} & row.keys():
        row[name] = bool(row[name])
    return row


def _leave_out_known(db: Connection, rows: dict[str, list[CleanRow]]) -> None:
    """Leave out notes that are there already, and branches whose other end is not."""
    known = "SELECT uuid FROM {} WHERE uuid IN (SELECT value FROM json_each(?))"
    notes = as_json(row["uuid"] for row in rows.get("note", ()))
    drop_notes(rows, db.column(known.format("note"), (notes,)))
    branches = rows.get("branch", [])
    ends = as_json(row[end] for row in branches for end in ("source", "target"))
    there = {row["uuid"] for row in rows.get("conversation", ())}
    there.update(db.column(known.format("conversation"), (ends,)))
    rows["branch"] = [row for row in branches if {row["source"], row["target"]} <= there]


class _Writing:
    """Writes records in one transaction, with everything that follows from them."""

    def __init__(self, db: Connection, tokeniser: Tokeniser, new: bool) -> None:
        self._db = db
        self._tokeniser = tokeniser
        self._new = new

    def put(self, kind: RecordKind, row: CleanRow) -> None:
        if self._new:
            self._db.insert(kind, row)
        else:
            self._db.upsert(kind, row, _KEYS.get(kind, ("uuid",)))

    def put_all(self, kind: RecordKind, rows: list[CleanRow]) -> None:
        for row in rows:
            self.put(kind, row)
            if kind in KINDS:
                records.index(self._db, KINDS[kind], row, self._tokeniser)

    def write_conversations(self, kind: RecordKind, rows: list[CleanRow]) -> None:
        statement = "SELECT message_count FROM conversation WHERE uuid = ?"
        for row in rows:
            known = self._db.value(statement, (row["uuid"],))
            # A stored conversation with more messages has continued here.
            if self._new or known is None or known <= row["message_count"]:
                self.put(kind, row)

    def write_messages(self, kind: RecordKind, rows: list[CleanRow]) -> None:
        project = "SELECT project_id FROM conversation WHERE uuid = ?"
        for row in rows:
            self.put(kind, row)
            if row["role"] == "user":
                turn = {
                    "message_id": row["uuid"],
                    "conversation_id": row["conversation_id"],
                    "project_id": self._db.value(project, (row["conversation_id"],)),
                    "private_to": row["private_to"],
                    "turn_index": row["turn_index"],
                    "started_ms": row["timestamp_ms"],
                }
                self.put("turn", CleanRow(turn))

    def index_turns(self, rows: dict[str, list[CleanRow]]) -> None:
        """Index the words of the turns in which something was written."""
        said = {row["uuid"] for row in rows.get("message", ())}
        said.update(row["message_id"] for row in rows.get("tool_call", ()))
        calls = (row["tool_call_id"] for row in rows.get("tool_result", ()))
        statement = """
            SELECT DISTINCT conversation_id, turn_index FROM message WHERE uuid IN (
              SELECT value FROM json_each(?) UNION
              SELECT message_id FROM tool_call WHERE uuid IN (SELECT value FROM json_each(?)))"""
        given = (as_json(said), as_json(calls))
        for talk, turn in sorted(self._db.execute(statement, given)):
            messages.index_turn(self._db, talk, turn, self._tokeniser)

    def write_summaries(self, kind: RecordKind, rows: list[CleanRow]) -> None:
        covers = {row["uuid"]: as_json(map(int, row.pop("covers"))) for row in rows}
        self.put_all(kind, rows)
        for row in rows:
            self._db.execute(
                """UPDATE turn SET covered_by = ? WHERE conversation_id = ?
                   AND turn_index IN (SELECT value FROM json_each(?))""",
                (row["uuid"], row["conversation_id"], covers[row["uuid"]]),
            )
            self._db.execute(
                "UPDATE summary SET covered_by = ? WHERE uuid IN (SELECT value FROM json_each(?))",
                (row["uuid"], as_json(row["parent_summaries"])),
            )

    def write_checkouts(self, kind: RecordKind, rows: list[CleanRow]) -> None:
        statement = "SELECT * FROM checkout WHERE uuid = ?"
        for row in rows:
            copied = CHECKOUT.decode(row)
            known = self._db.row(statement, (row["uuid"],))
            both = copied if known is None else keep_both(CHECKOUT.decode(known), copied)
            self.put(kind, CHECKOUT.encode(both, STORED))

    def write_files(self, kind: RecordKind, rows: list[CleanRow]) -> None:
        self.put_all(kind, rows)
        for project_id, files in group_by(rows, "project_id").items():
            add_directories(self._db, project_id, [row["path"] for row in files])

    def write_scopes(self, _: RecordKind, rows: list[CleanRow]) -> None:
        statement = """SELECT uuid, project_id FROM file
                       WHERE uuid IN (SELECT value FROM json_each(?))"""
        wanted = as_json({row["file_id"] for row in rows})
        projects: dict[str, str] = dict(self._db.execute(statement, (wanted,)))
        found: defaultdict[str, list[CleanRow]] = defaultdict(list)
        for row in rows:
            found[projects.get(row["file_id"], "")].append(row)
        for project_id, some in found.items():
            scope_rows.restore(self._db, project_id, some, self._tokeniser)

    def write_relations(self, _: RecordKind, rows: list[CleanRow]) -> None:
        relations.add(
            self._db, [Relation(row["kind"], row["source"], row["target"]) for row in rows]
        )

    def write_vectors(self, _: RecordKind, rows: list[CleanRow]) -> None:
        keys = {one.name: one.key for one in list_embedded()}
        for kind, found in group_by(rows, "owner_kind").items():
            key = keys[kind]
            wanted = as_json(row["owner_id"] for row in found)
            statement = f"""SELECT {key}, id FROM {kind}
                            WHERE {key} IN (SELECT value FROM json_each(?))"""
            owners: dict[str, int] = dict(self._db.execute(statement, (wanted,)))
            # A missing one was added during the copy: the next pass copies both.
            there = [(owners[row["owner_id"]], row) for row in found if row["owner_id"] in owners]
            new = [(owner, Vector(row["model"], bytes(row["data"]))) for owner, row in there]
            hashes = {owner: row["embedding_hash"] for owner, row in there}
            vectors.put(self._db, kind, new, hashes)

    def write_bookmarks(self, _: RecordKind, rows: list[CleanRow]) -> None:
        for row in rows:
            row["name"] = _BOOKMARK + row["name"]
            if row["value"] is None:
                self._db.execute("DELETE FROM meta WHERE name = ?", (row["name"],))
            else:
                self.put("meta", row)


_WRITERS: dict[RecordKind, Callable[[_Writing, RecordKind, list[CleanRow]], None]] = {
    "conversation": _Writing.write_conversations,
    "message": _Writing.write_messages,
    "summary": _Writing.write_summaries,
    "checkout": _Writing.write_checkouts,
    "file": _Writing.write_files,
    "scope": _Writing.write_scopes,
    "relation": _Writing.write_relations,
    "vector": _Writing.write_vectors,
    "bookmark": _Writing.write_bookmarks,
}
