"""Branching: a copy of a conversation up to one of its messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import apsw

from ragforge.adapters.stores.rows import Row
from ragforge.adapters.stores.sqlite import messages
from ragforge.adapters.stores.sqlite.sql import insert, select
from ragforge.domain.conversations import Message, ToolCall
from ragforge.domain.text import new_id
from ragforge.ports.words import Tokeniser


def copy_until(connection: apsw.Connection, last: Row, branch: Row, tokeniser: Tokeniser) -> None:
    """Copy what was said up to and including a message into an empty conversation."""
    insert(
        connection,
        "branch",
        {"source": last["conversation_id"], "target": branch["uuid"], "message_id": last["uuid"]},
    )
    rows = select(
        connection,
        "SELECT * FROM message WHERE conversation_id = ? AND position <= ? ORDER BY position",
        (last["conversation_id"], last["position"]),
    )
    originals = messages.load(connection, list(rows))
    copies = _fresh(originals)
    messages.add(connection, branch, copies, tokeniser)
    for original, copy in zip(originals, copies, strict=True):
        _copy_references(connection, original.uuid, copy.uuid)
        if original.role == "user":
            _copy_vector(connection, original.uuid, copy.uuid, last["position"])


def _fresh(originals: Sequence[Message]) -> list[Message]:
    """Return copies with new ids; turns count anew, for deleted ones may have left gaps."""
    turns = [message.turn_index for message in originals if message.role == "user"]
    renumbered = {old: new for new, old in enumerate(turns)}
    return [
        replace(
            message,
            uuid=new_id(),
            turn_index=renumbered.get(message.turn_index),
            tool_calls=tuple(_fresh_call(call) for call in message.tool_calls),
        )
        for message in originals
    ]


def _fresh_call(call: ToolCall) -> ToolCall:
    result = None if call.result is None else replace(call.result, uuid=new_id())
    return replace(call, uuid=new_id(), result=result)


def _copy_references(connection: apsw.Connection, original: str, copy: str) -> None:
    connection.execute(
        """INSERT INTO reference SELECT ?, scope_id, file, qualified_name, hash
           FROM reference WHERE owner_id = ?""",
        (copy, original),
    )


def _copy_vector(connection: apsw.Connection, original: str, copy: str, last: int) -> None:
    """Copy a turn's vector, unless the branch cuts the turn: the vector knows what followed."""
    connection.execute(
        """INSERT INTO vector (kind, owner, model, data)
           SELECT 'turn', (SELECT id FROM turn WHERE message_id = ?), v.model, v.data
           FROM vector v JOIN turn t ON v.kind = 'turn' AND v.owner = t.id
           WHERE t.message_id = ? AND NOT EXISTS (
             SELECT 1 FROM message m WHERE m.conversation_id = t.conversation_id
             AND m.turn_index = t.turn_index AND m.position > ?)""",
        (copy, original, last),
    )
