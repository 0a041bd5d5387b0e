"""Coverage in Neo4j: summaries, and the turns that they cover."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ragforge.adapters.stores.neo4j import conversation_nodes
from ragforge.adapters.stores.neo4j import summary_nodes as nodes
from ragforge.adapters.stores.neo4j.cypher import filter_ms, is_own
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.neo4j.filters import make_filter
from ragforge.adapters.stores.neo4j.records import read_row
from ragforge.domain.schema import SUMMARY
from ragforge.domain.summaries import Level, Summary, SummaryFilter
from ragforge.domain.turns import TurnCoverage
from ragforge.ports.words import Tokeniser


class Coverage:
    """The part of `Timeline` that remembers summaries."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def save_summary(self, summary: Summary, turn_ids: Sequence[str] = ()) -> None:
        async def work(tx: Transaction) -> None:
            # The lock lets no other summary take the same turns meanwhile.
            conversation = await conversation_nodes.lock_own(tx, summary.conversation_id)
            private_to = conversation["private_to"]
            row = SUMMARY.encode(summary, self._database.redactor, private_to=private_to)
            await nodes.check_free(tx, summary.uuid, turn_ids)
            if summary.level == 2:
                for parent in summary.parent_summaries:
                    await read_row(tx, SUMMARY, parent)
            await nodes.put(tx, row, conversation["project_id"], self._tokeniser)
            await nodes.uncover(tx, summary.uuid)
            if summary.level == 2:
                await nodes.cover_parents(tx, row)
            else:
                first, last = summary.start_turn_index, summary.end_turn_index
                free = await nodes.find_free_turns(tx, summary.conversation_id, first, last)
                await nodes.cover_turns(tx, row, free)

        await self._database.write(work)

    async def coverage(
        self, conversation_id: str, first_turn: int | None = None
    ) -> list[TurnCoverage]:
        chosen = nodes.IS_OPEN if first_turn is None else "h.turn_index >= $first"
        query = f"""MATCH (h:Message {{conversation_id: $id, role: 'user'}}) WHERE {chosen}
                    OPTIONAL MATCH (s:Summary {{level: 1}})-[:SUMMARIZES]->(h)
                    WITH h, min(s.uuid) AS cover
                    MATCH (m:Message {{conversation_id: $id, turn_index: h.turn_index}})
                    WITH h, cover, sum(m.char_count) AS chars
                    RETURN [h.turn_index, chars, cover, coalesce(h.summary_trimmed, false)]
                    ORDER BY h.turn_index"""
        rows = await self._database.read(
            lambda tx: conversation_nodes.collect(tx, conversation_id, query, first=first_turn)
        )
        return [TurnCoverage(*row) for row in rows]

    async def trim(
        self,
        before: datetime,
        level: Level | None = None,
        conversation_id: str | None = None,
        project_ids: Sequence[str] | None = None,
    ) -> int:
        where = make_filter(SUMMARY, SummaryFilter(conversation_id, project_ids, level))
        where.add("n.created_ms < $before", before=filter_ms("before", before))
        where.add(is_own("n.conversation_id"))

        async def work(tx: Transaction) -> int:
            query = f"MATCH (n:Summary) WHERE {where} RETURN n.uuid"
            return await nodes.trim(tx, await tx.column(query, **where.parameters))

        return await self._database.write(work)

    async def forget_trims(self, conversation_id: str) -> None:
        async def work(tx: Transaction) -> None:
            await conversation_nodes.lock_own(tx, conversation_id)
            await nodes.forget_trims(tx, conversation_id)

        await self._database.write(work)
