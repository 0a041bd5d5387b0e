"""Whole conversations in SQLite: reading one, adding one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import apsw

from ragforge.adapters.stores.sqlite import messages, records, summary_rows, vectors
from ragforge.adapters.stores.sqlite.links import read_links
from ragforge.adapters.stores.sqlite.sql import (
    as_json,
    insert,
    select,
    select_column,
    select_one,
    select_value,
)
from ragforge.domain.code import CodeReference
from ragforge.domain.conversation_bundle import (
    BranchPoint,
    ConversationBundle,
    SummaryBundle,
    set_counters,
)
from ragforge.domain.kinds import CleanRow, Data, Kind, Redactor
from ragforge.domain.notes import Note
from ragforge.domain.rows import encode_mentions, encode_message
from ragforge.domain.schema import CONVERSATION, KINDS, NOTE, REFERENCE, SUMMARY, list_parts
from ragforge.domain.text import check_text
from ragforge.domain.vectors import Vector
from ragforge.errors import ConversationNotFound
from ragforge.ports.words import Tokeniser


def read(
    connection: apsw.Connection, conversation_id: str, with_vectors: bool = True
) -> ConversationBundle:
    """Return everything that is known of a conversation. Raises ConversationNotFound."""
    check_text("conversation_id", conversation_id)
    only = (conversation_id,)
    row = select_one(connection, "SELECT * FROM conversation WHERE uuid = ?", only)
    if row is None:
        raise ConversationNotFound(conversation_id)
    said = select(
        connection, "SELECT * FROM message WHERE conversation_id = ? ORDER BY position", only
    )
    origins = _read_branch_points(connection, "target", "source", conversation_id)
    bundle = ConversationBundle(
        conversation=CONVERSATION.decode(row),
        messages=tuple(messages.load(connection, list(said))),
        references=_read_references(connection, conversation_id),
        summaries=_read_summaries(connection, conversation_id),
        branch_of=next(iter(origins), None),
        branches=tuple(_read_branch_points(connection, "source", "target", conversation_id)),
        notes=_read_notes(connection, conversation_id),
        parts={
            kind.name: tuple(_read_items(connection, kind, conversation_id))
            for kind in list_parts()
        },
        trimmed=_read_flagged(connection, "message", "summary_trimmed", conversation_id)
        | _read_flagged(connection, "summary", "summary_trimmed", conversation_id),
        link_pending=_read_flagged(connection, "message", "link_pending", conversation_id),
        embedded_by=_read_models(connection, conversation_id),
    )
    if not with_vectors:
        return bundle
    whole = _read_vectors(connection, "conversation", "uuid", "uuid", conversation_id)
    return replace(
        bundle,
        vector=whole.get(conversation_id),
        turn_vectors=_read_vectors(
            connection, "turn", "message_id", "conversation_id", conversation_id
        ),
        summary_vectors=_read_vectors(
            connection, "summary", "uuid", "conversation_id", conversation_id
        ),
        note_vectors=_read_vectors(connection, "note", "uuid", "conversation_id", conversation_id),
    )


def add(
    connection: apsw.Connection,
    whole: ConversationBundle,
    redactor: Redactor,
    tokeniser: Tokeniser,
) -> None:
    """Store a new conversation with all that belongs to it. Raises DuplicateId."""
    said = [encode_message(message, redactor) for message in whole.messages]
    counted = set_counters(whole.conversation, [one.message for one in said])
    row = CONVERSATION.encode(counted, redactor)
    rowid = insert(connection, "conversation", row)
    for one in said:
        place = (one.message.turn_index or 0, one.message.position or 0)
        messages.insert_placed(connection, row, one.place(row, *place))
    # Once a turn, when all of it is there.
    for turn_index in sorted({message.turn_index or 0 for message in whole.messages}):
        messages.index_turn(connection, row["uuid"], turn_index, tokeniser)
    for message_id, references in whole.references.items():
        for reference in REFERENCE.encode_all(references, redactor, owner_id=message_id):
            insert(connection, "reference", reference)
    for summary in whole.summaries:
        _add_summary(connection, summary, whole.summary_vectors, redactor, tokeniser)
    _add_notes(connection, whole, redactor, tokeniser)
    for name, items in whole.parts.items():
        private = {"private_to": row["private_to"]} if "private_to" in KINDS[name] else {}
        for item in KINDS[name].encode_all(items, redactor, **private):
            records.put_row(connection, KINDS[name], item, tokeniser)
    _flag(connection, "message", "summary_trimmed", whole.trimmed)
    _flag(connection, "summary", "summary_trimmed", whole.trimmed)
    _flag(connection, "message", "link_pending", whole.link_pending)
    if whole.vector is not None:
        vectors.put(connection, "conversation", [(rowid, whole.vector)])
    _add_turn_vectors(connection, whole)
    _link(connection, whole)


def _read_references(
    connection: apsw.Connection, conversation_id: str
) -> dict[str, tuple[CodeReference, ...]]:
    rows = select(
        connection,
        """SELECT r.* FROM message m JOIN reference r ON r.owner_id = m.uuid
           WHERE m.conversation_id = ?
           ORDER BY m.position, r.file, r.qualified_name, r.scope_id""",
        (conversation_id,),
    )
    found = defaultdict(list)
    for row in rows:
        found[row["owner_id"]].append(REFERENCE.decode(row))
    return {owner: tuple(references) for owner, references in found.items()}


def _read_summaries(connection: apsw.Connection, conversation_id: str) -> tuple[SummaryBundle, ...]:
    statement = """SELECT * FROM summary WHERE conversation_id = ?
                   ORDER BY level, start_turn_index, uuid"""
    rows = list(select(connection, statement, (conversation_id,)))
    mentions = read_links(connection, [row["uuid"] for row in rows])
    found = []
    for row in rows:
        scopes, files = mentions.get(row["uuid"], ([], []))
        covers = summary_rows.read_covered(connection, row["uuid"])
        found.append(SummaryBundle(SUMMARY.decode(row), tuple(covers), tuple(files), tuple(scopes)))
    return tuple(found)


def _read_flagged(
    connection: apsw.Connection, table: str, flag: str, conversation_id: str
) -> frozenset[str]:
    statement = f"SELECT uuid FROM {table} WHERE conversation_id = ? AND {flag}"
    return frozenset(select_column(connection, statement, (conversation_id,)))


def _flag(connection: apsw.Connection, table: str, flag: str, ids: Iterable[str]) -> None:
    statement = f"UPDATE {table} SET {flag} = 1 WHERE uuid IN (SELECT value FROM json_each(?))"
    connection.execute(statement, (as_json(ids),))


def _read_branch_points(
    connection: apsw.Connection, near: str, far: str, conversation_id: str
) -> list[BranchPoint]:
    # Of a branch that is private to somebody else nothing is said.
    seen = "SELECT 1 FROM conversation c WHERE c.uuid ="
    statement = f"""SELECT {far}, message_id FROM branch WHERE {near} = ?
                    AND EXISTS ({seen} {far}) ORDER BY {far}"""
    return [BranchPoint(*row) for row in connection.execute(statement, (conversation_id,))]


def _read_vectors(
    connection: apsw.Connection, kind: str, identity: str, owner: str, conversation_id: str
) -> dict[str, Vector]:
    statement = f"""
        SELECT o.{identity}, m.name, v.data FROM {kind} o
        JOIN vector v ON v.kind = '{kind}' AND v.owner = o.id JOIN model m ON m.id = v.model
        WHERE o.{owner} = ?"""
    rows = connection.execute(statement, (conversation_id,))
    return {found: Vector(model, bytes(data)) for found, model, data in rows}


def _read_models(connection: apsw.Connection, conversation_id: str) -> dict[str, str]:
    """Return the models of the turns' vectors, by the ids of the turns."""
    statement = """
        SELECT t.message_id, m.name FROM turn t
        JOIN vector v ON v.kind = 'turn' AND v.owner = t.id JOIN model m ON m.id = v.model
        WHERE t.conversation_id = ?"""
    return dict(connection.execute(statement, (conversation_id,)))


def _add_summary(
    connection: apsw.Connection,
    whole: SummaryBundle,
    known_vectors: Mapping[str, Vector],
    redactor: Redactor,
    tokeniser: Tokeniser,
) -> None:
    row = SUMMARY.encode(whole.summary, redactor)
    summary = SUMMARY.decode(row)
    row.update(summary_rows.read_privacy(connection, summary))
    rowid = insert(connection, "summary", row)
    records.index(connection, SUMMARY, row, tokeniser)
    connection.execute(
        """UPDATE turn SET covered_by = ? WHERE conversation_id = ?
           AND turn_index IN (SELECT value FROM json_each(?))""",
        (summary.uuid, summary.conversation_id, as_json(whole.covers)),
    )
    if summary.level == 2:
        summary_rows.cover_parents(connection, summary)
    for row in encode_mentions(summary.uuid, whole.files, whole.scopes, redactor):
        insert(connection, "mention", row)
    if (vector := known_vectors.get(summary.uuid)) is not None:
        vectors.put(connection, "summary", [(rowid, vector)])


def _read_items(
    connection: apsw.Connection, kind: Kind[Data, Any], conversation_id: str
) -> list[Data]:
    statement = f"SELECT * FROM {kind.name} WHERE conversation_id = ? ORDER BY {kind.key}"
    return [kind.decode(row) for row in select(connection, statement, (conversation_id,))]


def _read_notes(connection: apsw.Connection, conversation_id: str) -> tuple[Note, ...]:
    """Return the notes that were made in a conversation, oldest first."""
    statement = "SELECT * FROM note WHERE conversation_id = ? ORDER BY created_ms, uuid"
    return tuple(NOTE.decode(row) for row in select(connection, statement, (conversation_id,)))


def _add_notes(
    connection: apsw.Connection,
    whole: ConversationBundle,
    redactor: Redactor,
    tokeniser: Tokeniser,
) -> None:
    """Add the notes that are not there yet, with their vectors."""
    known = records.read_with_ids(connection, NOTE, [note.uuid for note in whole.notes])
    for note in whole.notes:
        if note.uuid in known:
            continue
        records.put_row(connection, NOTE, NOTE.encode(note, redactor), tokeniser)
        if (vector := whole.note_vectors.get(note.uuid)) is not None:
            owner = records.find_rowid(connection, NOTE, note.uuid)
            vectors.put(connection, "note", [(owner, vector)])


def _add_turn_vectors(connection: apsw.Connection, whole: ConversationBundle) -> None:
    statement = "SELECT message_id, id FROM turn WHERE conversation_id = ?"
    turns = dict(connection.execute(statement, (whole.conversation.uuid,)))
    owners = [(turns[message_id], vector) for message_id, vector in whole.turn_vectors.items()]
    vectors.put(connection, "turn", owners)


def _link(connection: apsw.Connection, whole: ConversationBundle) -> None:
    """Link the conversation to those it shares a branch with, as far as they are there."""
    here = whole.conversation.uuid
    origin = () if whole.branch_of is None else (whole.branch_of,)
    links = [(point.conversation_id, here, point) for point in origin]
    links += [(here, point.conversation_id, point) for point in whole.branches]
    for source, target, point in links:
        known = "SELECT 1 FROM conversation WHERE uuid = ?"
        if select_value(connection, known, (point.conversation_id,)):
            row = {"source": source, "target": target, "message_id": point.message_id}
            insert(connection, "branch", CleanRow(row))
