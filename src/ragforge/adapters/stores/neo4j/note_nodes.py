"""Note nodes: storing them, and linking each to the one it supersedes."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.adapters.stores.neo4j.cypher import assign, is_seen, select_fields
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.words import make_note_words
from ragforge.adapters.stores.rows import NOTE
from ragforge.adapters.stores.table import Row
from ragforge.errors import NotAuthor, NoteNotFound
from ragforge.ports.words import Tokeniser

ROW = select_fields("n", NOTE)
OF_CONVERSATION = f"""MATCH (n:Note {{conversation_id: $id}}) WHERE {is_seen("n")}
    WITH n ORDER BY n.created_ms, n.uuid RETURN {ROW}"""
"""The notes that were made in a conversation, oldest first."""


async def read(tx: Transaction, note_id: str) -> Row:
    """Return a note's row. Raises NoteNotFound."""
    row: Row | None = await tx.value(
        f"MATCH (n:Note {{uuid: $id}}) WHERE {is_seen('n')} RETURN {ROW} AS row", id=note_id
    )
    if row is None:
        raise NoteNotFound(note_id)
    return row


async def check_own(tx: Transaction, note_id: str, force: bool = False) -> None:
    """Look for a note that is to be changed. Raises NoteNotFound, NotAuthor."""
    row = await read(tx, note_id)
    if not force and None not in (tx.viewer, row["author_key"]) and row["author_key"] != tx.viewer:
        raise NotAuthor("note", note_id, row["author"])


async def find_known(tx: Transaction, note_ids: Sequence[str]) -> set[str]:
    """Return those of some ids that are taken."""
    query = "MATCH (n:Note) WHERE n.uuid IN $ids RETURN n.uuid"
    return set(await tx.column(query, ids=list(note_ids)))


async def put(tx: Transaction, rows: Sequence[Row], tokeniser: Tokeniser) -> None:
    """Store notes, or change those with their ids, and link them in both directions.

    Which of two notes is written first makes no difference.
    """
    new: list[Row] = [{**row, "words": make_note_words(row, tokeniser)} for row in rows]
    await tx.each(f"MERGE (n:Note {{uuid: row.uuid}}) SET {assign('n', NOTE)}", new)
    await tx.each(
        """MATCH (n:Note {uuid: row.uuid}) MATCH (older:Note {uuid: row.supersedes})
           MERGE (n)-[:SUPERSEDES]->(older)""",
        rows,
    )
    await tx.each(
        """MATCH (n:Note {uuid: row.uuid}) MATCH (newer:Note {supersedes: row.uuid})
           MERGE (newer)-[:SUPERSEDES]->(n)""",
        rows,
    )
