"""Note nodes: storing them, and linking each to those it supersedes or corrects."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.adapters.stores.neo4j.cypher import assign
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.domain.kinds import CleanRow
from ragforge.domain.notes import format_note_for_search
from ragforge.domain.schema import NOTE
from ragforge.ports.words import Tokeniser


async def find_known(tx: Transaction, note_ids: Sequence[str]) -> set[str]:
    """Return those of some ids that are taken."""
    query = "MATCH (n:Note) WHERE n.uuid IN $ids RETURN n.uuid"
    return set(await tx.column(query, ids=list(note_ids)))


async def put(tx: Transaction, rows: Sequence[CleanRow], tokeniser: Tokeniser) -> None:
    """Store notes, or change those with their ids, and link them in both directions.

    Which of two notes is written first makes no difference.
    """
    words = {row["uuid"]: tokeniser.prose(format_note_for_search(NOTE.decode(row))) for row in rows}
    await tx.each(
        f"MERGE (n:Note {{uuid: row.uuid}}) SET {assign('n', NOTE)}",
        [{**row, "words": words[row["uuid"]]} for row in rows],
    )
    links = [
        {
            "uuid": row["uuid"],
            "project_id": row["project_id"],
            "older": [*filter(None, (row["supersedes"],)), *row["corrects"]],
        }
        for row in rows
    ]
    await tx.each(
        """MATCH (n:Note {uuid: row.uuid})-[link:SUPERSEDES]->(older)
           WHERE NOT older.uuid IN row.older DELETE link""",
        links,
    )
    await tx.each(
        """UNWIND row.older AS id
           MATCH (n:Note {uuid: row.uuid}) MATCH (older:Note {uuid: id})
           MERGE (n)-[:SUPERSEDES]->(older)""",
        links,
    )
    await tx.each(
        """MATCH (n:Note {uuid: row.uuid}) MATCH (newer:Note {supersedes: row.uuid})
           MERGE (newer)-[:SUPERSEDES]->(n)""",
        links,
    )
    await tx.each(
        """MATCH (n:Note {uuid: row.uuid}) MATCH (newer:Note {project_id: row.project_id})
           WHERE row.uuid IN newer.corrects
           MERGE (newer)-[:SUPERSEDES]->(n)""",
        links,
    )
