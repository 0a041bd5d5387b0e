"""Branching: a copy of a conversation up to one of its messages."""

from __future__ import annotations

import apsw

from ragforge.adapters.stores.sqlite import messages
from ragforge.adapters.stores.sqlite.sql import insert, select
from ragforge.adapters.stores.table import Row
from ragforge.domain.branches import MakeId, copy_messages, make_new
from ragforge.ports.words import Tokeniser


def copy_until(
    connection: apsw.Connection,
    last: Row,
    branch: Row,
    tokeniser: Tokeniser,
    make_id: MakeId = make_new,
) -> None:
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
    copies = copy_messages(originals, make_id)
    messages.add(connection, branch, copies, tokeniser)
    for original, copy in zip(originals, copies, strict=True):
        _copy_references(connection, original.uuid, copy.uuid)
        connection.execute(
            """UPDATE message SET link_pending = (SELECT link_pending FROM message WHERE uuid = ?)
               WHERE uuid = ?""",
            (original.uuid, copy.uuid),
        )
        if original.role == "user":
            _copy_vector(connection, original.uuid, copy.uuid, last["position"])


def _copy_references(connection: apsw.Connection, original: str, copy: str) -> None:
    connection.execute(
        """INSERT INTO reference (owner_id, scope_id, file, qualified_name, hash, how)
           SELECT ?, scope_id, file, qualified_name, hash, how
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
