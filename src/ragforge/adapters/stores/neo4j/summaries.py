"""Summaries in Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ragforge.adapters.stores.neo4j import conversation_nodes, facts
from ragforge.adapters.stores.neo4j import summary_nodes as nodes
from ragforge.adapters.stores.neo4j.cypher import filter_ms, is_own, is_seen, select_fields
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.neo4j.filters import make_filter
from ragforge.adapters.stores.neo4j.records import check_own, read_row
from ragforge.domain.code import CodeReference, FileMention
from ragforge.domain.instants import format_instant, now
from ragforge.domain.rows import encode_mentions
from ragforge.domain.schema import FILE_MENTION, SCOPE_MENTION, SUMMARY
from ragforge.domain.summaries import Level, Summary, SummaryFilter
from ragforge.domain.turns import TurnSize
from ragforge.ports.words import Tokeniser


class Neo4jSummaries:
    """Keeps the promises of `SummaryStore`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def save(self, summary: Summary, turn_ids: Sequence[str] = ()) -> None:
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

    async def uncovered_turns(self, conversation_id: str) -> list[TurnSize]:
        query = """MATCH (h:Message {conversation_id: $id, role: 'user'})
                   WHERE NOT coalesce(h.summary_trimmed, false)
                     AND NOT EXISTS { (:Summary {level: 1})-[:SUMMARIZES]->(h) }
                   MATCH (m:Message {conversation_id: $id, turn_index: h.turn_index})
                   WITH h.turn_index AS turn, sum(m.char_count) AS chars
                   RETURN [turn, chars] ORDER BY turn"""
        rows = await self._database.read(
            lambda tx: conversation_nodes.collect(tx, conversation_id, query)
        )
        return [TurnSize(turn, chars) for turn, chars in rows]

    async def trimmed_turns(self, conversation_id: str, first_turn: int = 0) -> list[int]:
        query = """MATCH (m:Message {conversation_id: $id})
                   WHERE m.turn_index >= $first AND m.summary_trimmed
                   RETURN m.turn_index ORDER BY m.turn_index"""

        return await self._database.read(
            lambda tx: conversation_nodes.collect(tx, conversation_id, query, first=first_turn)
        )

    async def covered_turns(self, summary_id: str) -> list[int]:
        async def work(tx: Transaction) -> list[int]:
            await read_row(tx, SUMMARY, summary_id)
            return await nodes.read_covered(tx, summary_id)

        return await self._database.read(work)

    async def chars_before(self, conversation_id: str, turn_index: int) -> int:
        # The few turns behind it are counted, not the many before it.
        query = """WITH talk.total_chars AS total
                   OPTIONAL MATCH (m:Message {conversation_id: $id}) WHERE m.turn_index >= $turn
                   WITH total, sum(m.char_count) AS behind
                   RETURN total - behind"""

        [chars] = await self._database.read(
            lambda tx: conversation_nodes.collect(tx, conversation_id, query, turn=turn_index)
        )
        return int(chars)

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

    async def mark_read(self, summary_ids: Sequence[str]) -> None:
        query = f"""MATCH (n:Summary) WHERE n.uuid IN $ids AND n.read_at IS NULL
                     AND {is_own("n.conversation_id")}
                   SET n.read_at = datetime($now)"""
        given = {"ids": list(summary_ids), "now": format_instant(now())}
        await self._database.write(lambda tx: tx.rows(query, **given))

    async def mention(
        self, summary_id: str, files: Sequence[FileMention], scopes: Sequence[CodeReference]
    ) -> None:
        rows = encode_mentions(summary_id, files, scopes, self._database.redactor)

        async def work(tx: Transaction) -> None:
            await check_own(tx, SUMMARY, summary_id)
            await facts.forget_mentions(tx, summary_id)
            await facts.put_mentions(tx, rows)

        await self._database.write(work)

    async def mentions(self, summary_id: str) -> tuple[list[FileMention], list[CodeReference]]:
        async def work(tx: Transaction) -> tuple[list[FileMention], list[CodeReference]]:
            await read_row(tx, SUMMARY, summary_id)
            return (await _read_mentions(tx, [summary_id])).get(summary_id, ([], []))

        return await self._database.read(work)

    async def mentions_of(
        self, summary_ids: Sequence[str]
    ) -> dict[str, tuple[list[FileMention], list[CodeReference]]]:
        return await self._database.read(lambda tx: _read_mentions(tx, summary_ids))


async def _read_mentions(
    tx: Transaction, summary_ids: Sequence[str]
) -> dict[str, tuple[list[FileMention], list[CodeReference]]]:
    row = select_fields("f", facts.MENTION)
    query = f"""MATCH (s:Summary) WHERE s.uuid IN $ids AND {is_seen("s")}
                MATCH (f:CodeMention {{owner_id: s.uuid}}) RETURN {row} AS row
                ORDER BY f.path, f.qualified_name, f.target_id"""
    found: dict[str, tuple[list[FileMention], list[CodeReference]]] = {}
    for one in await tx.column(query, ids=list(summary_ids)):
        files, scopes = found.setdefault(one["owner_id"], ([], []))
        if one["kind"] == "file":
            files.append(FILE_MENTION.decode(one))
        else:
            scopes.append(SCOPE_MENTION.decode(one))
    return found
