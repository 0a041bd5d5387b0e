"""Conversation nodes: locking, counting, and who may see what belongs to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragforge.adapters.stores.neo4j.cypher import assign, get_label, is_seen
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.domain.conversations import Message
from ragforge.domain.kinds import STORED, CleanRow, Row, Stored
from ragforge.domain.rows import count_messages
from ragforge.domain.schema import CONVERSATION, list_parts
from ragforge.errors import ConversationNotFound, DuplicateId, NotAuthor


async def collect(tx: Transaction, conversation_id: str, query: str, /, **values: Any) -> list[Any]:
    """Return the values of a query about a conversation, its `$id`, if there is such a one.

    Both are one query. Raises ConversationNotFound.
    """
    found: list[Any] | None = await tx.value(
        f"""MATCH (talk:Conversation {{uuid: $id}}) WHERE {is_seen("talk")}
            RETURN COLLECT {{ {query} }}""",
        id=conversation_id,
        **values,
    )
    if found is None:
        raise ConversationNotFound(conversation_id)
    return found


async def lock_own(tx: Transaction, conversation_id: str, force: bool = False) -> Row:
    """Lock a conversation that is to be changed. Raises ConversationNotFound, NotAuthor."""
    row = await tx.read_item(CONVERSATION, conversation_id, lock=True)
    if not force:
        check_author(tx, row)
    return row


def check_author(tx: Transaction, row: Stored) -> None:
    """Raise NotAuthor if a conversation belongs to another author."""
    if None not in (tx.viewer, row["author_key"]) and row["author_key"] != tx.viewer:
        raise NotAuthor("session", row["uuid"], row["author"])


async def set_visibility(tx: Transaction, row: Stored) -> None:
    """Give all that belongs to a conversation the visibility of its row."""
    facts = {name: row[name] for name in ("uuid", "private_to", "visibility", "author_key")}
    parts = [get_label(kind) for kind in list_parts() if "private_to" in kind]
    for label in ("Message", "Passage", "Summary", *parts):
        owned = f"MATCH (n:{label} {{conversation_id: $row.uuid}})"
        await tx.rows(f"{owned} SET n.private_to = $row.private_to", row=facts)
    await tx.rows(
        """MATCH (n:Note {conversation_id: $row.uuid}) WHERE n.author_key = $row.author_key
           SET n.private_to = $row.private_to, n.visibility = $row.visibility""",
        row=facts,
    )


async def delete_parts(tx: Transaction, conversation_id: str) -> None:
    """Delete what belongs to a conversation, except messages, summaries and notes."""
    for kind in list_parts():
        parts = f"MATCH (n:{get_label(kind)} {{conversation_id: $id}}) DETACH DELETE n"
        await tx.rows(parts, id=conversation_id)


async def create(tx: Transaction, row: CleanRow) -> CleanRow:
    """Store a new conversation, with all counters at zero. Raises DuplicateId."""
    row.update(message_count=0, turn_count=0, total_chars=0)
    known = "MATCH (n:Conversation {uuid: $id}) RETURN true"
    if await tx.value(known, id=row["uuid"]):
        raise DuplicateId("conversation", row["uuid"])
    # CREATE, not MERGE: of two at once one must fail.
    new = assign("n", CONVERSATION, "$row")
    await tx.rows(f"CREATE (n:Conversation:ConversationSession) SET {new}", row=row)
    return row


async def put(tx: Transaction, rows: Sequence[CleanRow]) -> None:
    """Store conversations as they are, or change those that are there."""
    await tx.each(
        f"""MERGE (n:Conversation {{uuid: row.uuid}})
            SET n:ConversationSession, {assign("n", CONVERSATION)}""",
        [dict(row) for row in rows],
    )


async def count(tx: Transaction, row: Stored, added: Sequence[Message]) -> None:
    """Count messages that were appended."""
    changed = count_messages(CONVERSATION.decode(row), added)
    await put(tx, [CONVERSATION.encode(changed, STORED)])


async def recount(tx: Transaction, conversation_id: str) -> None:
    """Recount all messages."""
    await tx.rows(
        """MATCH (n:Conversation {uuid: $id})
           OPTIONAL MATCH (n)-[:HAS_MESSAGE]->(m:Message)
           WITH n, count(m) AS messages, sum(m.char_count) AS chars,
                count(CASE WHEN m.role = 'user' THEN 1 END) AS turns
           SET n.message_count = messages, n.turn_count = turns, n.total_chars = chars""",
        id=conversation_id,
    )
