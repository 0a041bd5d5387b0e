"""The timeline in Neo4j: what was said, in order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ragforge.adapters.stores.neo4j import conversation_nodes as nodes
from ragforge.adapters.stores.neo4j import messages as message_nodes
from ragforge.adapters.stores.neo4j import summary_nodes
from ragforge.adapters.stores.neo4j.branching import SHARED, copy_until
from ragforge.adapters.stores.neo4j.cypher import CypherFilter, filter_ms, is_own, is_seen
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.adapters.stores.neo4j.filters import make_filter
from ragforge.adapters.stores.neo4j.links import Neo4jLinks
from ragforge.domain.conversations import BEFORE_FIRST_TURN, Conversation, Message, ToolCall
from ragforge.domain.kinds import STORED
from ragforge.domain.rows import encode_message
from ragforge.domain.schema import CONVERSATION, MESSAGE, SUMMARY
from ragforge.domain.summaries import Level, Summary, SummaryFilter
from ragforge.domain.turns import StoredTurn, TurnCoverage
from ragforge.errors import ConversationNotFound
from ragforge.ports.search_index import Tokeniser
from ragforge.ports.timeline import RecentPast


class Neo4jTimeline(Neo4jLinks):
    """Implements `Timeline`."""

    def __init__(self, database: Neo4jDatabase, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def save_summary(self, summary: Summary, turn_ids: Sequence[str] = ()) -> None:
        async def work(tx: Transaction) -> None:
            # The lock keeps other summaries from covering the same turns.
            conversation = await nodes.lock_own(tx, summary.conversation_id)
            private_to = conversation["private_to"]
            row = SUMMARY.encode(summary, self._database.redactor, private_to=private_to)
            await summary_nodes.check_free(tx, summary.uuid, turn_ids)
            if summary.level == 2:
                for parent in summary.parent_summaries:
                    await tx.read_item(SUMMARY, parent)
            await summary_nodes.put(tx, row, conversation["project_id"], self._tokeniser)
            await summary_nodes.uncover(tx, summary.uuid)
            if summary.level == 2:
                await summary_nodes.cover_parents(tx, row)
            else:
                first, last = summary.start_turn_index, summary.end_turn_index
                free = await summary_nodes.find_free_turns(tx, summary.conversation_id, first, last)
                await summary_nodes.cover_turns(tx, row, free)

        await self._database.write(work)

    async def coverage(
        self, conversation_id: str, first_turn: int | None = None
    ) -> list[TurnCoverage]:
        chosen = summary_nodes.IS_OPEN if first_turn is None else "h.turn_index >= $first"
        query = f"""MATCH (h:Message {{conversation_id: $id, role: 'user'}}) WHERE {chosen}
                    OPTIONAL MATCH (s:Summary {{level: 1}})-[:SUMMARIZES]->(h)
                    WITH h, min(s.uuid) AS cover
                    MATCH (m:Message {{conversation_id: $id, turn_index: h.turn_index}})
                    WITH h, cover, sum(m.char_count) AS chars
                    RETURN [h.turn_index, chars, cover, coalesce(h.summary_trimmed, false)]
                    ORDER BY h.turn_index"""
        rows = await self._database.read(
            lambda tx: nodes.collect(tx, conversation_id, query, first=first_turn)
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
            return await summary_nodes.trim(tx, await tx.column(query, **where.parameters))

        return await self._database.write(work)

    async def forget_trims(self, conversation_id: str) -> None:
        async def work(tx: Transaction) -> None:
            await nodes.lock_own(tx, conversation_id)
            await summary_nodes.forget_trims(tx, conversation_id)

        await self._database.write(work)

    async def append(self, conversation_id: str, messages: Sequence[Message]) -> list[Message]:
        encoded = [encode_message(message, self._database.redactor) for message in messages]

        async def work(tx: Transaction) -> list[Message]:
            conversation = await nodes.lock_own(tx, conversation_id)
            if not messages:
                return []
            placed = await message_nodes.add(tx, conversation, encoded, self._tokeniser)
            await nodes.count(tx, conversation, placed)
            return placed

        return await self._database.write(work)

    async def finish_calls(self, message_id: str, calls: Sequence[ToolCall]) -> Message:
        async def work(tx: Transaction) -> Message:
            row = await tx.read_item(MESSAGE, message_id)
            conversation = await nodes.lock_own(tx, row["conversation_id"])
            before, done = await message_nodes.finish_calls(
                tx, row, calls, self._database.redactor, self._tokeniser
            )
            known = CONVERSATION.decode(conversation)
            chars = known.total_chars + done.char_count - before.char_count
            await nodes.put(tx, [CONVERSATION.encode(replace(known, total_chars=chars), STORED)])
            return done

        return await self._database.write(work)

    async def branch(self, message_id: str, into: Conversation) -> Conversation:
        async def work(tx: Transaction) -> Conversation:
            last = await tx.read_item(MESSAGE, message_id)
            row = await nodes.create(tx, CONVERSATION.encode(into, self._database.redactor))
            await copy_until(tx, last, row, self._tokeniser)
            await nodes.recount(tx, into.uuid)
            return CONVERSATION.decode(await tx.read_item(CONVERSATION, into.uuid))

        return await self._database.write(work)

    async def messages(
        self,
        conversation_id: str,
        first_turn: int | None = None,
        last_turn: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        with_receipts: bool = True,
    ) -> list[Message]:
        where = CypherFilter().add("m.conversation_id = $id")
        where.add("m.turn_index >= $first", first=first_turn)
        where.add("m.turn_index <= $last", last=last_turn)
        columns = message_nodes.WITH_CALLS if with_receipts else message_nodes.WITHOUT_RECEIPT
        limit = None if limit is None else max(limit, 0)
        query = f"""MATCH (m:Message) WHERE {where}
                    WITH m ORDER BY m.position {"DESC" if newest else "ASC"}
                    {"" if limit is None else "LIMIT $limit"} RETURN {columns}"""
        rows = await self._database.read(
            lambda tx: nodes.collect(tx, conversation_id, query, limit=limit, **where.parameters)
        )
        own = [message_nodes.decode_message(row) for row in rows]
        if newest:
            own.reverse()
            return await self._add_shared(conversation_id, own, limit, first_turn or 0, last_turn)
        shared = await self._read_shared(conversation_id, own, first_turn or 0, last_turn)
        return [*shared, *own][:limit]

    async def recent_past(
        self, conversation_id: str, messages: int, summaries: int, stretches: int = 0
    ) -> RecentPast:
        # As for the last text: the index has them in this order, so the newest come first.
        last_receipt = f"""MATCH (m:Message) WHERE m.conversation_id = $id AND m.position >= 0
                             AND m.receipt IS NOT NULL AND {is_seen("m")}
                           RETURN m.receipt AS receipt
                           ORDER BY m.conversation_id DESC, m.position DESC LIMIT 1"""
        row = await self._database.read(
            lambda tx: tx.row(
                f"""MATCH (talk:Conversation {{uuid: $id}}) WHERE {is_seen("talk")}
                    RETURN COLLECT {{
                        MATCH (m:Message) WHERE m.conversation_id = $id
                        WITH m ORDER BY m.position DESC LIMIT $messages
                        RETURN {message_nodes.WITHOUT_RECEIPT} }} AS messages,
                      COLLECT {{ {last_receipt} }} AS receipts,
                      COLLECT {{ {summary_nodes.OUTERMOST} LIMIT $summaries }} AS summaries,
                      COLLECT {{ {summary_nodes.STRETCHES} LIMIT $stretches }} AS stretches""",
                id=conversation_id,
                messages=max(messages, 0),
                summaries=max(summaries, 0),
                stretches=max(stretches, 0),
            )
        )
        if row is None:
            raise ConversationNotFound(conversation_id)
        own = [message_nodes.decode_message(found) for found in reversed(row["messages"])]
        return RecentPast(
            await self._add_shared(conversation_id, own, max(messages, 0)),
            json.loads(row["receipts"][0]) if row["receipts"] else None,
            [SUMMARY.decode(found) for found in reversed(row["summaries"])],
            row["stretches"][::-1],
        )

    async def last_texts(self, conversation_ids: Sequence[str]) -> dict[str, str]:
        # The bound and the order match the index on both, which then answers at once.
        query = f"""UNWIND $ids AS id
                    CALL (id) {{
                      MATCH (m:Message) WHERE m.conversation_id = id AND m.position >= 0
                        AND {is_seen("m")}
                      RETURN m.content AS text
                      ORDER BY m.conversation_id DESC, m.position DESC LIMIT 1
                    }}
                    RETURN id, text"""
        rows = await self._database.rows(query, ids=list(conversation_ids))
        return {row["id"]: row["text"] for row in rows}

    async def turns(self, turn_ids: Sequence[str], back: int = 0) -> dict[str, StoredTurn]:
        return await message_nodes.read_turns(self._database, turn_ids, back)

    async def _add_shared(
        self,
        conversation_id: str,
        newest: list[Message],
        limit: int | None,
        first_turn: int = 0,
        last_turn: int | None = None,
    ) -> list[Message]:
        """Return the newest messages with those before them that a branch shares."""
        if limit is not None and len(newest) >= limit:
            return newest
        shared = await self._read_shared(conversation_id, newest, first_turn, last_turn)
        return [*shared, *newest][-limit if limit else None :]

    async def _read_shared(
        self, conversation_id: str, own: Sequence[Message], first_turn: int, last_turn: int | None
    ) -> list[Message]:
        """Return the messages of some turns that a conversation shares with its origin.

        Most share none, which is known by the turns they hold: the server is not asked.
        """
        is_whole = (own[0].turn_index or 0) <= first_turn if own else last_turn is None
        if is_whole:
            return []
        rows = await self._database.column(
            f"""MATCH (talk:Conversation {{uuid: $id}})
                {SHARED} AND m.turn_index >= $first
                  AND ($last IS NULL OR m.turn_index <= $last)
                WITH m ORDER BY m.position RETURN {message_nodes.WITHOUT_RECEIPT}""",
            id=conversation_id,
            first=first_turn if first_turn else BEFORE_FIRST_TURN,
            last=last_turn,
        )
        return [message_nodes.decode_message(row) for row in rows]
