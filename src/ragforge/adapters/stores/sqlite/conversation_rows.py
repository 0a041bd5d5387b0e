"""Conversation rows: reading, counting, and who may see what belongs to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragforge.adapters.stores.sqlite.sql import Connection
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.instants import format_instant, to_epoch_ms
from ragforge.domain.kinds import CleanRow, Redactor, Row
from ragforge.domain.rows import count_messages
from ragforge.domain.schema import CONVERSATION, list_parts


def encode_new(conversation: Conversation, redactor: Redactor) -> CleanRow:
    """Return the row of a conversation without messages."""
    empty = replace(conversation, message_count=0, turn_count=0, total_chars=0)
    return CONVERSATION.encode(empty, redactor)


def set_visibility(db: Connection, row: Row) -> None:
    """Give all that belongs to a conversation the visibility of its row."""
    given = (row["private_to"], row["uuid"])
    parts = [kind.name for kind in list_parts() if "private_to" in kind]
    for table in ("message", "turn", "summary", *parts):
        statement = f"UPDATE {table} SET private_to = ? WHERE conversation_id = ?"
        db.execute(statement, given)
    db.execute(
        """UPDATE note SET private_to = ?, visibility = ?
           WHERE conversation_id = ? AND author_key = ?""",
        (row["private_to"], row["visibility"], row["uuid"], row["author_key"]),
    )


def count(db: Connection, conversation_id: str, added: Sequence[Message]) -> None:
    """Count messages that were appended."""
    if not added:
        return
    known = CONVERSATION.decode(db.read_item(CONVERSATION, conversation_id))
    new = count_messages(known, added)
    db.execute(
        """UPDATE conversation SET message_count = ?, turn_count = ?, total_chars = ?,
             created_at = ?, updated_at = ?, updated_ms = ? WHERE uuid = ?""",
        (
            new.message_count,
            new.turn_count,
            new.total_chars,
            format_instant(new.created_at),
            format_instant(new.updated_at),
            to_epoch_ms(new.updated_at),
            new.uuid,
        ),
    )


def recount(db: Connection, conversation_id: str) -> None:
    """Recount all messages."""
    db.execute(
        """UPDATE conversation SET (message_count, turn_count, total_chars) = (
             SELECT count(*), coalesce(sum(role = 'user'), 0), coalesce(sum(char_count), 0)
             FROM message WHERE conversation_id = conversation.uuid)
           WHERE uuid = ?""",
        (conversation_id,),
    )
