"""Summaries in Neo4j."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ragforge.adapters.stores.neo4j import conversation_nodes, facts, words
from ragforge.adapters.stores.neo4j import summary_nodes as nodes
from ragforge.adapters.stores.neo4j import vectors as vector_nodes
from ragforge.adapters.stores.neo4j.both import WordSearch, match_both
from ragforge.adapters.stores.neo4j.cypher import Where, filter_ms, is_own, is_seen
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.rows import FILE_MENTION, REFERENCE, SUMMARY
from ragforge.domain.code import CodeReference, FileMention
from ragforge.domain.hits import Match
from ragforge.domain.instants import format_instant, now
from ragforge.domain.summaries import Level, Summary, SummaryFilter
from ragforge.domain.turns import TurnSize
from ragforge.domain.vectors import Vector
from ragforge.errors import SummaryNotFound
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
            row = SUMMARY.encode(summary, private_to=conversation["private_to"])
            await nodes.check_free(tx, summary.uuid, turn_ids)
            if summary.level == 2:
                for parent in summary.parent_summaries:
                    await nodes.read(tx, parent)
            await nodes.put(tx, row, conversation["project_id"], self._tokeniser)
            await nodes.uncover(tx, summary.uuid)
            if summary.level == 2:
                await nodes.cover_parents(tx, row)
            else:
                first, last = summary.start_turn_index, summary.end_turn_index
                free = await nodes.find_free_turns(tx, summary.conversation_id, first, last)
                await nodes.cover_turns(tx, row, free)

        await self._database.write(work)

    async def get(self, summary_id: str) -> Summary:
        return SUMMARY.decode(await self._database.read(lambda tx: nodes.read(tx, summary_id)))

    async def with_ids(self, summary_ids: Sequence[str]) -> dict[str, Summary]:
        query = f"""MATCH (n:Summary) WHERE n.uuid IN $ids AND {is_seen("n")}
                    RETURN {nodes.ROW} AS row"""
        rows = await self._database.column(query, ids=list(summary_ids))
        return {row["uuid"]: SUMMARY.decode(row) for row in rows}

    async def find(
        self, where: SummaryFilter, limit: int | None = None, offset: int = 0
    ) -> list[Summary]:
        conditions = _make_filter(where)
        query = f"""MATCH (n:Summary) WHERE {conditions} RETURN {nodes.ROW} AS row
                    ORDER BY n.conversation_id, n.start_turn_index, n.level, n.uuid
                    SKIP $offset {"" if limit is None else "LIMIT $limit"}"""
        rows = await self._database.column(
            query, limit=limit, offset=offset, **conditions.parameters
        )
        return [SUMMARY.decode(row) for row in rows]

    async def conversations_of(self, summary_ids: Sequence[str]) -> dict[str, str]:
        query = f"""MATCH (n:Summary) WHERE n.uuid IN $ids AND {is_seen("n")}
                   RETURN n.uuid AS summary, n.conversation_id AS conversation"""
        rows = await self._database.rows(query, ids=list(summary_ids))
        return {row["summary"]: row["conversation"] for row in rows}

    async def not_in_level_2(self, conversation_id: str) -> list[Summary]:
        return await self._outside_level_2(conversation_id, "true")

    async def waiting_for_level_2(self, conversation_id: str) -> list[Summary]:
        return await self._outside_level_2(
            conversation_id, "NOT coalesce(n.summary_trimmed, false)"
        )

    async def _outside_level_2(self, conversation_id: str, condition: str) -> list[Summary]:
        query = f"""MATCH (n:Summary {{conversation_id: $id, level: 1}})
                    WHERE {condition} AND NOT EXISTS {{ (:Summary)-[:SUMMARIZES]->(n) }}
                    RETURN {nodes.ROW} AS row ORDER BY n.start_turn_index, n.uuid"""

        rows = await self._database.read(
            lambda tx: conversation_nodes.collect(tx, conversation_id, query)
        )
        return [SUMMARY.decode(row) for row in rows]

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
            await nodes.read(tx, summary_id)
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

    async def delete(self, summary_id: str) -> None:
        async def work(tx: Transaction) -> None:
            await _read_own(tx, summary_id)
            await nodes.remove(tx, [summary_id])

        await self._database.write(work)

    async def trim(
        self,
        before: datetime,
        level: Level | None = None,
        conversation_id: str | None = None,
        project_ids: Sequence[str] | None = None,
    ) -> int:
        where = _make_filter(SummaryFilter(conversation_id, project_ids, level))
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
        rows = [
            facts.mention_of_file(FILE_MENTION.encode(mention, owner_id=summary_id))
            for mention in files
        ]
        rows += [
            facts.mention_of_scope(REFERENCE.encode(scope, owner_id=summary_id)) for scope in scopes
        ]

        async def work(tx: Transaction) -> None:
            await _read_own(tx, summary_id)
            await facts.forget_mentions(tx, summary_id)
            await facts.put_mentions(tx, rows)

        await self._database.write(work)

    async def mentions(self, summary_id: str) -> tuple[list[FileMention], list[CodeReference]]:
        async def work(tx: Transaction) -> tuple[list[FileMention], list[CodeReference]]:
            await nodes.read(tx, summary_id)
            return (await _read_mentions(tx, [summary_id])).get(summary_id, ([], []))

        return await self._database.read(work)

    async def mentions_of(
        self, summary_ids: Sequence[str]
    ) -> dict[str, tuple[list[FileMention], list[CodeReference]]]:
        return await self._database.read(lambda tx: _read_mentions(tx, summary_ids))

    async def embed(self, vectors: Mapping[str, Vector]) -> None:
        async def work(tx: Transaction) -> None:
            for summary_id in vectors:
                await _read_own(tx, summary_id)
            for unknown in await vector_nodes.put(tx, vector_nodes.SUMMARIES, vectors):
                raise SummaryNotFound(unknown)

        await self._database.write(work)

    async def to_embed(self, model: str, limit: int) -> list[str]:
        return await self._database.column(
            f"""MATCH (s:Summary) WHERE s.created_ms IS NOT NULL
                 AND {is_own("s.conversation_id")}
                 AND (s.embedding_model IS NULL OR s.embedding_model <> $model)
               RETURN s.uuid ORDER BY s.created_ms, s.uuid LIMIT $limit""",
            model=model,
            limit=limit,
        )

    async def by_words(self, query: str, where: SummaryFilter, limit: int) -> list[Match]:
        wanted = self._tokeniser.query(query)
        return await words.search(
            self._database, "ragforge_summary_words", wanted, _make_filter(where), limit
        )

    async def by_vector(
        self, vector: Vector, where: SummaryFilter, limit: int, min_score: float = 0.0
    ) -> list[Match]:
        return await self._database.read(
            lambda tx: vector_nodes.find_nearest(
                tx, vector_nodes.SUMMARIES, vector, _make_filter(where), limit, min_score
            )
        )

    async def by_words_and_vector(
        self,
        query: str,
        vector: Vector | None,
        where: SummaryFilter,
        limit: int,
        min_score: float = 0.0,
    ) -> tuple[list[Match], list[Match], dict[str, Summary]]:
        by_words = WordSearch(
            "ragforge_summary_words", self._tokeniser.query(query), _make_filter(where), limit
        )
        held, close, read = await match_both(
            self._database, by_words, vector_nodes.SUMMARIES, vector, min_score, nodes.ROW
        )
        return held, close, {uuid: SUMMARY.decode(row) for uuid, row in read.items()}


async def _read_own(tx: Transaction, summary_id: str) -> None:
    """Look for a summary that is to be changed. Raises SummaryNotFound, NotAuthor."""
    row = await nodes.read(tx, summary_id)
    await conversation_nodes.lock_own(tx, row["conversation_id"])


async def _read_mentions(
    tx: Transaction, summary_ids: Sequence[str]
) -> dict[str, tuple[list[FileMention], list[CodeReference]]]:
    query = f"""MATCH (s:Summary) WHERE s.uuid IN $ids AND {is_seen("s")}
                MATCH (f:CodeMention {{owner_id: s.uuid}}) RETURN {facts.MENTION} AS row
                ORDER BY f.path, f.qualified_name, f.target_id"""
    found: dict[str, tuple[list[FileMention], list[CodeReference]]] = {}
    for row in await tx.column(query, ids=list(summary_ids)):
        files, scopes = found.setdefault(row["owner_id"], ([], []))
        if row["kind"] == "file":
            files.append(FILE_MENTION.decode(row))
        else:
            scopes.append(REFERENCE.decode(row))
    return found


def _make_filter(where: SummaryFilter) -> Where:
    conditions = Where().add(is_seen("n"))
    conditions.add("n.conversation_id = $conversation", conversation=where.conversation_id)
    conditions.any_of("project_id", where.project_ids)
    conditions.any_of("conversation_id", where.conversation_ids)
    conditions.add("n.level = $level", level=where.level)
    conditions.add("n.start_turn_index >= $first_turn", first_turn=where.first_turn)
    mentions = "EXISTS { MATCH (f:CodeMention {owner_id: n.uuid}) WHERE f.path = $file }"
    conditions.add(mentions, file=where.file)
    if where.unread:
        conditions.add("n.read_at IS NULL AND size(n.key_findings) > 0")
    return conditions.between("created_ms", where.since, where.until)
