"""Summary nodes: what they cover, and removing them."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.adapters.stores.neo4j import vectors
from ragforge.adapters.stores.neo4j.cypher import assign, is_seen, select_fields
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.domain.kinds import Stored
from ragforge.domain.schema import SUMMARY
from ragforge.domain.summaries import format_summary_for_search
from ragforge.errors import TurnNotFound
from ragforge.ports.search_index import Tokeniser

ROW = select_fields("n", SUMMARY)
OUTERMOST = f"""MATCH (n:Summary {{conversation_id: $id}}) WHERE {is_seen("n")}
                  AND NOT EXISTS {{ (:Summary)-[:SUMMARIZES]->(n) }}
                RETURN {ROW} AS row
                ORDER BY n.start_turn_index DESC, n.level DESC, n.uuid DESC"""
"""The summaries of a conversation that no other covers, the newest range first."""
STRETCHES = f"""MATCH (n:Summary {{conversation_id: $id, level: 2}}) WHERE {is_seen("n")}
                WITH n ORDER BY n.start_turn_index DESC, n.uuid DESC LIMIT 1
                MATCH (n)-[:SUMMARIZES]->(below:Summary)
                RETURN below.start_turn_index ORDER BY below.start_turn_index DESC"""
"""Where the summaries begin that the newest long-term one covers, the newest first."""

IS_OPEN = """NOT coalesce(h.summary_trimmed, false)
  AND NOT EXISTS { (:Summary {level: 1})-[:SUMMARIZES]->(h) }"""
"""The condition that no L1 covers the turn that begins with `h`, nor covered it once."""


async def put(tx: Transaction, row: Stored, project_id: str, tokeniser: Tokeniser) -> None:
    """Store a summary, or change the one with its id; a changed text loses its vector."""
    known = await tx.value(f"MATCH (n:Summary {{uuid: $id}}) RETURN {ROW} AS row", id=row["uuid"])
    if known is not None and SUMMARY.is_reworded(known, row):
        await vectors.remove(tx, vectors.get_vector_index(SUMMARY), row["uuid"])
    await tx.rows(
        f"""MATCH (c:Conversation {{uuid: $row.conversation_id}})
            MERGE (n:Summary {{uuid: $row.uuid}}) SET {assign("n", SUMMARY, "$row")}
            MERGE (c)-[:HAS_SUMMARY]->(n)""",
        row={
            **row,
            "project_id": project_id,
            "words": tokeniser.prose(format_summary_for_search(SUMMARY.decode(row))),
        },
    )


async def uncover(tx: Transaction, summary_id: str) -> None:
    """Forget what a summary covers."""
    await tx.rows("MATCH (:Summary {uuid: $id})-[e:SUMMARIZES]->() DELETE e", id=summary_id)


async def find_free_turns(
    tx: Transaction, conversation_id: str, first: int, last: int
) -> list[int]:
    """Return the turns of a range that no summary covers."""
    return await tx.column(
        f"""MATCH (h:Message {{conversation_id: $id}}) WHERE h.role = 'user'
              AND $first <= h.turn_index <= $last AND {IS_OPEN}
            RETURN h.turn_index""",
        id=conversation_id,
        first=first,
        last=last,
    )


async def check_free(tx: Transaction, summary_id: str, turn_ids: Sequence[str]) -> None:
    """Raise TurnNotFound if a turn is gone, or another summary than this covers it."""
    free = await tx.column(
        """MATCH (m:Message {role: 'user'}) WHERE m.uuid IN $ids
             AND NOT EXISTS { MATCH (s:Summary {level: 1})-[:SUMMARIZES]->(m) WHERE s.uuid <> $id }
           RETURN m.uuid""",
        ids=list(turn_ids),
        id=summary_id,
    )
    for lost in set(turn_ids).difference(free):
        raise TurnNotFound(lost)


async def cover_turns(tx: Transaction, row: Stored, turns: Sequence[int]) -> None:
    """Note that a summary covers turns: all their messages."""
    await tx.rows(
        """MATCH (s:Summary {uuid: $summary})
           MATCH (m:Message {conversation_id: $conversation}) WHERE m.turn_index IN $turns
           MERGE (s)-[:SUMMARIZES]->(m)""",
        summary=row["uuid"],
        conversation=row["conversation_id"],
        turns=list(turns),
    )


async def cover_parents(tx: Transaction, row: Stored) -> None:
    """Record that an L2 covers those of its parents that are known."""
    await tx.rows(
        """MATCH (s:Summary {uuid: $id}) UNWIND $parents AS parent
           MATCH (p:Summary {uuid: parent}) MERGE (s)-[:SUMMARIZES]->(p)""",
        id=row["uuid"],
        parents=row["parent_summaries"],
    )


async def cover_by_parents(tx: Transaction, row: Stored) -> None:
    """Note that L2 summaries which name an L1 as their parent cover it."""
    await tx.rows(
        """MATCH (above:Summary {conversation_id: $conversation, level: 2})
           WHERE $id IN above.parent_summaries
           MATCH (s:Summary {uuid: $id}) MERGE (above)-[:SUMMARIZES]->(s)""",
        id=row["uuid"],
        conversation=row["conversation_id"],
    )


async def remove(tx: Transaction, summary_ids: Sequence[str]) -> int:
    """Delete summaries and those built on them; return how many went.

    Turns of theirs whose own summary was trimmed are eligible again as well.
    """
    gone = await tx.column(
        """MATCH (s:Summary) WHERE s.uuid IN $ids
           OPTIONAL MATCH (above:Summary)-[:SUMMARIZES]->(s)
           WITH collect(DISTINCT s.uuid) + collect(DISTINCT above.uuid) AS all
           UNWIND all AS id RETURN DISTINCT id""",
        ids=list(summary_ids),
    )
    await tx.rows(
        """MATCH (s:Summary {level: 2}) WHERE s.uuid IN $ids
           MATCH (m:Message {conversation_id: s.conversation_id})
           WHERE m.summary_trimmed AND s.start_turn_index <= m.turn_index <= s.end_turn_index
           REMOVE m.summary_trimmed""",
        ids=gone,
    )
    await _delete(tx, gone)
    return len(gone)


async def trim(tx: Transaction, summary_ids: Sequence[str]) -> int:
    """Delete summaries and no others, noting on what they covered that this was done."""
    ids = list(summary_ids)
    await tx.rows(
        """MATCH (s:Summary)-[:SUMMARIZES]->(n:Message|Summary) WHERE s.uuid IN $ids
             AND coalesce(n.role, 'user') = 'user'
           SET n.summary_trimmed = true""",
        ids=ids,
    )
    await tx.rows(
        """MATCH (above:Summary)-[:SUMMARIZES]->(s:Summary) WHERE s.uuid IN $ids
           WITH DISTINCT above
           SET above.parent_summaries = [id IN above.parent_summaries WHERE NOT id IN $ids]""",
        ids=ids,
    )
    await _delete(tx, ids)
    return len(ids)


async def forget_trims(tx: Transaction, conversation_id: str) -> None:
    """Forget that summaries were trimmed."""
    await tx.rows(
        """MATCH (n:Message|Summary) WHERE n.conversation_id = $id AND n.summary_trimmed
           REMOVE n.summary_trimmed""",
        id=conversation_id,
    )


async def _delete(tx: Transaction, ids: Sequence[str]) -> None:
    await tx.rows("MATCH (n:CodeMention) WHERE n.owner_id IN $ids DELETE n", ids=ids)
    await tx.rows("MATCH (n:Summary) WHERE n.uuid IN $ids DETACH DELETE n", ids=ids)


async def remove_all(tx: Transaction, conversation_id: str) -> None:
    """Delete all summaries of a conversation."""
    query = "MATCH (s:Summary {conversation_id: $id}) RETURN s.uuid"
    await remove(tx, await tx.column(query, id=conversation_id))
