"""All facts of a SQLite store as plain records."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import apsw

from ragforge.adapters.stores.sqlite import conversation_bundles as whole_rows
from ragforge.adapters.stores.sqlite import (
    messages,
    records,
    relations,
    scope_rows,
    summary_rows,
    vectors,
)
from ragforge.adapters.stores.sqlite.directories import add_directories
from ragforge.adapters.stores.sqlite.forgotten import is_own_note
from ragforge.adapters.stores.sqlite.sql import select, select_one, select_value, upsert
from ragforge.domain.code import Relation
from ragforge.domain.kinds import STORED, CleanRow, Kind, Row, check_row
from ragforge.domain.projects import keep_both
from ragforge.domain.rows import make_mention, redact_records
from ragforge.domain.schema import CHECKOUT, KINDS, SUMMARY, list_embedded
from ragforge.domain.vectors import Vector
from ragforge.errors import InputError
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.adapters.stores.sqlite.database import Database
    from ragforge.domain.conversation_bundle import ConversationBundle
    from ragforge.ports.archive import Record, RecordKind
    from ragforge.ports.words import Tokeniser

_Writer: TypeAlias = Callable[[apsw.Connection, CleanRow, "Tokeniser"], None]

_JOB = """key, kind, payload, iif(status = 'running', 'pending', status) AS status, attempts,
  run_after, run_after_ms, created_at, error, owner, machine"""
_MENTION = """owner_id, kind, iif(kind = 'file', target_id, NULL) AS file_id,
  iif(kind = 'scope', target_id, NULL) AS scope_id, iif(kind = 'file', path, NULL) AS path,
  iif(kind = 'scope', path, NULL) AS file, qualified_name, hash, how"""


@dataclass(frozen=True, slots=True)
class _Source:
    """How records of a kind are read: what, from where, ordered by which columns."""

    columns: str
    source: str
    order: tuple[str, ...] = ("uuid",)
    seen: str = "1"  # which a viewer sees; those of the tables with views are seen anyway


_OF_MESSAGES = "message_id IN (SELECT uuid FROM message)"
_SEEN_ENDS = """source IN (SELECT uuid FROM conversation)
  AND target IN (SELECT uuid FROM conversation)"""

_SPECIAL: dict[RecordKind, _Source] = {
    "tool_call": _Source("*", "tool_call", seen=_OF_MESSAGES),
    "tool_result": _Source(
        "*",
        "tool_result",
        seen=f"tool_call_id IN (SELECT uuid FROM tool_call WHERE {_OF_MESSAGES})",
    ),
    # Level 1 first: level 2 refers to it.
    "summary": _Source("*", "summary", ("level", "uuid")),
    "scope": _Source(scope_rows.COLUMNS, scope_rows.TABLES),
    "relation": _Source(
        "kind, source, target, project_id", "relation", ("source", "kind", "target")
    ),
    "reference": _Source(
        "*", "reference", ("owner_id", "scope_id"), "owner_id IN (SELECT uuid FROM message)"
    ),
    "mention": _Source(
        _MENTION,
        "mention",
        ("owner_id", "kind", "target_id"),
        "owner_id IN (SELECT uuid FROM summary)",
    ),
    "branch": _Source("*", "branch", ("source", "target"), _SEEN_ENDS),
    "job": _Source(_JOB, "job", ("id",)),
    "forgotten": _Source("*", "forgotten", ("uuid", "owner")),
}
_INTERNAL = ("id", "covered_by")


def _get_source(kind: RecordKind) -> _Source:
    if kind == "vector":
        return _make_vector_source()
    return _SPECIAL.get(kind) or _Source("*", kind)


def _make_vector_source() -> _Source:
    owners = [(kind.name, f"_{kind.name}", kind.key) for kind in list_embedded()]
    owner = f"coalesce({', '.join(f'{alias}.{key}' for _, alias, key in owners)})"
    joins = (
        f"LEFT JOIN {name} {alias} ON v.kind = '{name}' AND {alias}.id = v.owner"
        for name, alias, _ in owners
    )
    return _Source(
        f"""v.kind AS owner_kind, {owner} AS owner_id, m.name AS model, v.data,
            v.hash AS embedding_hash""",
        f"vector v JOIN model m ON m.id = v.model {' '.join(joins)}",
        ("v.id",),
        f"{owner} IS NOT NULL",
    )


class SqliteArchive:
    """Keeps the promises of `Archive`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def count(self, kind: RecordKind) -> int:
        source, seen = _get_source(kind).source, self._make_filter(kind)
        if seen == "1":
            source = source.split(" ")[0]
        statement = f"SELECT count(*) FROM {source} WHERE {seen}"
        return int(await self._database.read(lambda c: select_value(c, statement)))

    async def read(
        self, kind: RecordKind, after: str | None, limit: int
    ) -> list[tuple[str, Record]]:
        table = _get_source(kind)
        columns = ", ".join(table.order)
        bindings = [] if after is None else json.loads(after)
        marks = ", ".join("?" * len(bindings))
        where = f"WHERE {self._make_filter(kind)}"
        where += f" AND ({columns}) > ({marks})" if bindings else ""
        keys = ", ".join(f"{column} AS _key{place}" for place, column in enumerate(table.order))
        statement = f"""SELECT {table.columns}, {keys} FROM {table.source} {where}
                        ORDER BY {columns} LIMIT ?"""

        def work(connection: apsw.Connection) -> list[tuple[str, Record]]:
            rows = list(select(connection, statement, (*bindings, limit)))
            return [_record(connection, kind, row, len(table.order)) for row in rows]

        return await self._database.read(work)

    async def write(self, kind: RecordKind, records: Sequence[Record]) -> None:
        writer = _WRITERS.get(kind) or _put_declared(KINDS[kind])
        if self._database.viewer is not None:
            raise InputError("Records are written by an administrator, who is no viewer.")

        # Before the transaction: others write meanwhile.
        rows = await asyncio.to_thread(redact_records, kind, records, self._database.redactor)

        def work(connection: apsw.Connection) -> None:
            for row in rows:
                writer(connection, row, self._tokeniser)

        await self._database.write(work)

    async def conversation(
        self, conversation_id: str, with_vectors: bool = True
    ) -> ConversationBundle:
        return await self._database.read(
            lambda c: whole_rows.read(c, conversation_id, with_vectors)
        )

    async def add_conversation(self, whole: ConversationBundle) -> None:
        await self._database.write(
            lambda c: whole_rows.add(c, whole, self._database.redactor, self._tokeniser)
        )

    async def bookmark(self, name: str) -> str | None:
        statement = "SELECT value FROM meta WHERE name = ?"
        # A copy is named by the address of its source, which may hold a password.
        given = (_name_bookmark(self._database.redactor.redact(name)),)
        found = await self._database.read(lambda c: select_value(c, statement, given))
        return None if found is None else str(found)

    async def set_bookmark(self, name: str, value: str | None) -> None:
        redact = self._database.redactor.redact
        row = {"name": _name_bookmark(redact(name)), "value": redact(value)}
        clean = CleanRow(check_row("bookmark", row))

        def work(connection: apsw.Connection) -> None:
            if value is None:
                connection.execute("DELETE FROM meta WHERE name = ?", (row["name"],))
            else:
                upsert(connection, "meta", clean, ["name"])

        await self._database.write(work)

    def _make_filter(self, kind: RecordKind) -> str:
        """Return the condition that the viewer may see a record."""
        viewer = self._database.viewer
        if viewer is None:
            return "1"
        if kind == "forgotten":
            return is_own_note(viewer)
        return _get_source(kind).seen


def _name_bookmark(name: str) -> str:
    return f"bookmark:{name}"


def _record(
    connection: apsw.Connection, kind: RecordKind, row: Row, keys: int
) -> tuple[str, Record]:
    cursor = json.dumps([row.pop(f"_key{place}") for place in range(keys)])
    for name in _INTERNAL:
        row.pop(name, None)
    if kind == "scope":
        del row["project_id"]
    elif kind == "summary":
        row["covers"] = [str(turn) for turn in summary_rows.read_covered(connection, row["uuid"])]
    for name in {"success", "summary_trimmed", "link_pending"} & row.keys():
        row[name] = bool(row[name])
    return cursor, row


def _write_conversation(connection: apsw.Connection, row: CleanRow, _: Tokeniser) -> None:
    statement = "SELECT message_count FROM conversation WHERE uuid = ?"
    known = select_value(connection, statement, (row["uuid"],))
    if known is None or known <= row["message_count"]:  # else it went on here
        upsert(connection, "conversation", row, ["uuid"])


def _write_message(connection: apsw.Connection, row: CleanRow, tokeniser: Tokeniser) -> None:
    upsert(connection, "message", row, ["uuid"])
    if row["role"] == "user":
        project = "SELECT project_id FROM conversation WHERE uuid = ?"
        turn = {
            "message_id": row["uuid"],
            "conversation_id": row["conversation_id"],
            "project_id": select_value(connection, project, (row["conversation_id"],)),
            "private_to": row["private_to"],
            "turn_index": row["turn_index"],
            "started_ms": row["timestamp_ms"],
        }
        upsert(connection, "turn", CleanRow(turn), ["message_id"])
    messages.index_turn(connection, row["conversation_id"], row["turn_index"], tokeniser)


def _write_call(connection: apsw.Connection, row: CleanRow, tokeniser: Tokeniser) -> None:
    upsert(connection, "tool_call", row, ["uuid"])
    _index_turn_of(connection, row["message_id"], tokeniser)


def _write_result(connection: apsw.Connection, row: CleanRow, tokeniser: Tokeniser) -> None:
    upsert(connection, "tool_result", row, ["uuid"])
    statement = "SELECT message_id FROM tool_call WHERE uuid = ?"
    _index_turn_of(
        connection, select_value(connection, statement, (row["tool_call_id"],)), tokeniser
    )


def _index_turn_of(connection: apsw.Connection, message_id: str, tokeniser: Tokeniser) -> None:
    row = messages.find_row(connection, message_id)
    if row is not None:
        messages.index_turn(connection, row["conversation_id"], row["turn_index"], tokeniser)


def _write_summary(connection: apsw.Connection, row: CleanRow, tokeniser: Tokeniser) -> None:
    covers = json.dumps([int(turn) for turn in row.pop("covers")])
    upsert(connection, "summary", row, ["uuid"])
    records.index(connection, SUMMARY, row, tokeniser)
    connection.execute(
        """UPDATE turn SET covered_by = ? WHERE conversation_id = ?
           AND turn_index IN (SELECT value FROM json_each(?))""",
        (row["uuid"], row["conversation_id"], covers),
    )
    connection.execute(
        "UPDATE summary SET covered_by = ? WHERE uuid IN (SELECT value FROM json_each(?))",
        (row["uuid"], json.dumps(row["parent_summaries"])),
    )


def _write_checkout(connection: apsw.Connection, row: CleanRow, _: Tokeniser) -> None:
    known = select_one(connection, "SELECT * FROM checkout WHERE uuid = ?", (row["uuid"],))
    if known is not None:
        row = CHECKOUT.encode(keep_both(CHECKOUT.decode(known), CHECKOUT.decode(row)), STORED)
    upsert(connection, "checkout", row, ["uuid"])


def _write_file(connection: apsw.Connection, row: CleanRow, _: Tokeniser) -> None:
    upsert(connection, "file", row, ["uuid"])
    add_directories(connection, row["project_id"], [row["path"]])


def _write_scope(connection: apsw.Connection, row: CleanRow, tokeniser: Tokeniser) -> None:
    file = select_one(connection, "SELECT project_id FROM file WHERE uuid = ?", (row["file_id"],))
    scope_rows.restore(connection, file["project_id"] if file else "", row, tokeniser)


def _write_relation(connection: apsw.Connection, row: CleanRow, _: Tokeniser) -> None:
    edge = Relation(row["kind"], row["source"], row["target"])
    relations.add(connection, row["project_id"], [edge])


def _write_mention(connection: apsw.Connection, row: CleanRow, _: Tokeniser) -> None:
    mention = make_mention(row["kind"], row)
    upsert(connection, "mention", mention, ["owner_id", "kind", "target_id"])


def _write_vector(connection: apsw.Connection, row: CleanRow, _: Tokeniser) -> None:
    kind = row["owner_kind"]
    identity = "message_id" if kind == "turn" else "uuid"
    statement = f"SELECT id FROM {kind} WHERE {identity} = ?"
    owner = select_value(connection, statement, (row["owner_id"],))
    if owner is None:  # it came while the copy was under way: the next pass brings both
        return
    vector = Vector(row["model"], bytes(row["data"]))
    vectors.put(connection, kind, [(owner, vector)], {owner: row["embedding_hash"]})


def _put_declared(kind: Kind[Any, Any]) -> _Writer:
    def put(connection: apsw.Connection, row: CleanRow, tokeniser: Tokeniser) -> None:
        upsert(connection, kind.name, row, [kind.key])
        records.index(connection, kind, row, tokeniser)

    return put


def _upsert_into(table: str, *key: str) -> _Writer:
    return lambda connection, row, _: upsert(connection, table, row, key)


_WRITERS: dict[RecordKind, _Writer] = {
    "conversation": _write_conversation,
    "message": _write_message,
    "tool_call": _write_call,
    "tool_result": _write_result,
    "summary": _write_summary,
    "checkout": _write_checkout,
    "file": _write_file,
    "scope": _write_scope,
    "relation": _write_relation,
    "reference": _upsert_into("reference", "owner_id", "scope_id"),
    "mention": _write_mention,
    "branch": _upsert_into("branch", "source", "target"),
    "vector": _write_vector,
    "forgotten": _upsert_into("forgotten", "uuid", "owner"),
}
