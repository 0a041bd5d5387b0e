"""Conversation bundle: a conversation with all that belongs to it, as records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import TypeAlias

from ragforge.domain.conversations import Message
from ragforge.domain.kinds import CleanRow, Redactor, Row, Stored
from ragforge.domain.passages import move_passage_id
from ragforge.domain.rows import EncodedMessage, decode_tool_call, redact_records
from ragforge.domain.schema import MESSAGE, USAGE
from ragforge.domain.text import new_id
from ragforge.records import dataclass

MAX_EXPORT_BYTES = 512 * 1024 * 1024
"""A larger file is not imported."""

Bundle: TypeAlias = Mapping[str, Sequence[Stored]]
"""Records by the names of their kinds."""
NewBundle: TypeAlias = defaultdict[str, list[Stored]]

_OWNERS = {"conversation_id": "conversation", "message_id": "message", "tool_call_id": "tool_call"}
"""Columns with the id of a record, and its kind."""


@dataclass(frozen=True, slots=True)
class NamedSession:
    """What a damaged store says of a conversation, whether or not that itself can be read."""

    project_id: str = ""
    turn_ids: tuple[str, ...] = ()


def add_message(bundle: NewBundle, encoded: EncodedMessage) -> None:
    """Add the records of a message that has its place."""
    bundle["message"].append(encoded.row)
    bundle["tool_call"] += encoded.calls
    bundle["tool_result"] += encoded.results


def group_by(rows: Sequence[Stored], column: str) -> defaultdict[str, list[Stored]]:
    """Return records by their owners."""
    found = defaultdict(list)
    for row in rows:
        found[row[column]].append(row)
    return found


def clean_bundle(bundle: Bundle, redactor: Redactor, new: bool) -> dict[str, list[CleanRow]]:
    """Return records without secrets, and new conversations with the counters of their messages."""
    clean = {kind: redact_records(kind, rows, redactor) for kind, rows in bundle.items() if rows}
    for row in clean.get("conversation", ()) if new else ():
        row.update(count_messages(clean.get("message", ())))
    return clean


def count_messages(messages: Sequence[Stored]) -> dict[str, int]:
    """Return the counters of a conversation with these messages."""
    return {
        "message_count": len(messages),
        "turn_count": sum(row["role"] == "user" for row in messages),
        "total_chars": sum(row["char_count"] for row in messages),
    }


def drop_notes(rows: dict[str, list[CleanRow]], known: Collection[str]) -> None:
    """Leave out notes that are in the store already, and their vectors."""
    rows["note"] = [row for row in rows.get("note", ()) if row["uuid"] not in known]
    rows["vector"] = [
        row
        for row in rows.get("vector", ())
        if row["owner_kind"] != "note" or row["owner_id"] not in known
    ]


def decode_messages(bundle: Bundle) -> list[Message]:
    """Return the messages of a conversation, in order."""
    results = {row["tool_call_id"]: row for row in bundle["tool_result"]}
    calls = group_by(sorted(bundle["tool_call"], key=itemgetter("position")), "message_id")
    return [
        MESSAGE.decode(
            row,
            tool_calls=tuple(
                decode_tool_call(call, results.get(call["uuid"])) for call in calls[row["uuid"]]
            ),
        )
        for row in sorted(bundle["message"], key=itemgetter("position"))
    ]


def copy_with_new_ids(bundle: Bundle) -> NewBundle:
    """Return a copy with new ids. Branches stay with the original, and so does what it cost.

    Notes keep their ids: they belong to the project, which should not have them twice.
    """
    ids: dict[str, dict[str, str]] = defaultdict(dict)
    for kind, rows in bundle.items():
        if kind != "note":
            ids[kind] = {row["uuid"]: new_id() for row in rows if "uuid" in row}
    ids |= {"turn": ids["message"], "reference": ids["message"], "mention": ids["summary"]}
    origins = [row for row in bundle["branch"] if row["target"] in ids["conversation"]]
    copy: NewBundle = defaultdict(list)
    for kind, rows in {**bundle, "branch": origins, USAGE.name: []}.items():
        copy[kind] = [_rename(kind, row, ids) for row in rows]
    return copy


def _rename(kind: str, row: Stored, ids: Mapping[str, Mapping[str, str]]) -> Row:
    """Return a copy of a record, and of what it refers to in its conversation."""
    new = dict(row)
    if kind == "branch":  # its message is that of the other conversation
        return new | {"target": ids["conversation"][row["target"]]}
    owners = {**_OWNERS, "uuid": kind, "owner_id": row.get("owner_kind", kind)}
    for column, owner in owners.items():
        if column in row:
            new[column] = ids.get(owner, {}).get(row[column], row[column])
    if kind == "vector" and row["owner_kind"] == "passage":
        new["owner_id"] = move_passage_id(row["owner_id"], ids["turn"])
    if kind == "message":
        new["process"] = None  # no process is answering the copy
    elif kind == "summary":
        new["parent_summaries"] = [ids[kind][parent] for parent in row["parent_summaries"]]
    return new
