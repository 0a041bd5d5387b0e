"""Forgotten: ids of imported sessions that somebody deleted, so that they do not come back."""

from __future__ import annotations

from collections.abc import Collection

from ragforge.adapters.stores.neo4j.driver import Transaction

IS_OWN_NOTE = "(n.owner IN ['', $viewer] OR $viewer IS NULL)"
"""The condition that the viewer, or an administrator, has deleted something."""


async def forget(tx: Transaction, conversation_id: str) -> None:
    """Note the ids of a conversation and its messages."""
    await tx.rows(
        """OPTIONAL MATCH (m:Message {conversation_id: $id})
           WITH collect(m.uuid) + $id AS ids UNWIND ids AS id
           MERGE (n:RagForgeForgotten {uuid: id, owner: coalesce($viewer, '')})""",
        id=conversation_id,
    )


async def find_forgotten(tx: Transaction, ids: Collection[str]) -> list[str]:
    """Return which of the ids the viewer, or an administrator, has deleted."""
    query = f"""MATCH (n:RagForgeForgotten) WHERE n.uuid IN $ids AND {IS_OWN_NOTE}
                RETURN DISTINCT n.uuid"""
    return await tx.column(query, ids=list(ids))
