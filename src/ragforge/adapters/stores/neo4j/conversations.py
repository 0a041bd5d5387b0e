"""Conversations in Neo4j."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ragforge.adapters.stores.neo4j import conversation_nodes as nodes
from ragforge.adapters.stores.neo4j import messages as message_nodes
from ragforge.adapters.stores.neo4j import summary_nodes
from ragforge.adapters.stores.neo4j.branching import SHARED, copy_until
from ragforge.adapters.stores.neo4j.cypher import Where, is_seen
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.forgotten import forget
from ragforge.adapters.stores.neo4j.recall import TurnSearch
from ragforge.adapters.stores.neo4j.references import References
from ragforge.adapters.stores.rows import CONVERSATION, SUMMARY
from ragforge.domain.authors import AGENT
from ragforge.domain.conversations import (
    BEFORE_FIRST_TURN,
    Conversation,
    ConversationChanges,
    ConversationFilter,
    Message,
    ToolCall,
    apply_changes,
)
from ragforge.domain.text import Json
from ragforge.errors import ConversationNotFound, MessageNotFound
from ragforge.ports.conversations import OwnedTurns, RecentPast

# As for the last text: the index has them in this order, so the newest come first.
_LAST_RECEIPT = f"""MATCH (m:Message) WHERE m.conversation_id = $id AND m.position >= 0
                      AND m.receipt IS NOT NULL AND {is_seen("m")}
                    RETURN m.receipt AS receipt
                    ORDER BY m.conversation_id DESC, m.position DESC LIMIT 1"""


class Neo4jConversations(TurnSearch, References):
    """Keeps the promises of `ConversationStore`."""

    async def create(self, conversation: Conversation) -> None:
        await self._database.write(lambda tx: nodes.create(tx, conversation))

    async def get(self, conversation_id: str) -> Conversation:
        return CONVERSATION.decode(
            await self._database.read(lambda tx: nodes.read(tx, conversation_id))
        )

    async def starting_with(self, prefix: str, limit: int = 10) -> list[Conversation]:
        query = f"""MATCH (n:Conversation) WHERE n.uuid STARTS WITH $prefix AND {is_seen("n")}
                    RETURN {nodes.ROW} AS row ORDER BY n.uuid LIMIT $limit"""
        rows = await self._database.column(query, prefix=prefix, limit=limit)
        return [CONVERSATION.decode(row) for row in rows]

    async def find(
        self, where: ConversationFilter, limit: int = 50, offset: int = 0
    ) -> list[Conversation]:
        conditions = nodes.make_filter(where)
        query = f"""MATCH (n:Conversation) WHERE {conditions}
                    RETURN {nodes.ROW} AS row {nodes.LAST_ACTIVE_FIRST} SKIP $offset LIMIT $limit"""
        rows = await self._database.column(
            query, limit=limit, offset=offset, **conditions.parameters
        )
        return [CONVERSATION.decode(row) for row in rows]

    async def update(
        self, conversation_id: str, changes: ConversationChanges, force: bool = False
    ) -> Conversation:
        async def work(tx: Transaction) -> Conversation:
            result = apply_changes(
                CONVERSATION.decode(await nodes.lock_own(tx, conversation_id, force)), changes
            )
            row = CONVERSATION.encode(result)
            await nodes.put(tx, [row])
            if changes.visibility is not None:
                await nodes.set_visibility(tx, row)
            return result

        return await self._database.write(work)

    async def delete(self, conversation_id: str, force: bool = False) -> None:
        async def work(tx: Transaction) -> None:
            row = await nodes.lock_own(tx, conversation_id, force)
            if row["agent"] != AGENT:
                await forget(tx, conversation_id)
            await summary_nodes.remove_all(tx, conversation_id)
            await message_nodes.delete_messages(tx, conversation_id)
            await tx.rows("MATCH (n:Conversation {uuid: $id}) DETACH DELETE n", id=conversation_id)

        await self._database.write(work)

    async def append(self, conversation_id: str, messages: Sequence[Message]) -> list[Message]:
        async def work(tx: Transaction) -> list[Message]:
            conversation = await nodes.lock_own(tx, conversation_id)
            if not messages:
                return []
            placed = await message_nodes.add(tx, conversation, messages, self._tokeniser)
            await nodes.count(tx, conversation, placed)
            return placed

        return await self._database.write(work)

    async def finish_calls(self, message_id: str, calls: Sequence[ToolCall]) -> Message:
        async def work(tx: Transaction) -> Message:
            row = await nodes.read_message(tx, message_id)
            conversation = await nodes.lock_own(tx, row["conversation_id"])
            before, done = await message_nodes.finish_calls(tx, row, calls, self._tokeniser)
            known = CONVERSATION.decode(conversation)
            chars = known.total_chars + done.char_count - before.char_count
            await nodes.put(tx, [CONVERSATION.encode(replace(known, total_chars=chars))])
            return done

        return await self._database.write(work)

    async def message(self, message_id: str) -> Message:
        query = f"""MATCH (m:Message {{uuid: $id}}) WHERE {is_seen("m")}
                    RETURN {message_nodes.WITH_CALLS}"""
        found = await self._database.value(query, id=message_id)
        if found is None:
            raise MessageNotFound(message_id)
        return message_nodes.decode_message(found)

    async def messages(
        self,
        conversation_id: str,
        first_turn: int | None = None,
        last_turn: int | None = None,
        limit: int | None = None,
        offset: int = 0,
        with_receipts: bool = True,
    ) -> list[Message]:
        where = Where().add("m.conversation_id = $id", id=conversation_id)
        where.add("m.turn_index >= $first", first=first_turn)
        where.add("m.turn_index <= $last", last=last_turn)
        page = "SKIP $offset" if limit is None else "SKIP $offset LIMIT $limit"
        order = f"m.position {page}"
        columns = message_nodes.WITH_CALLS if with_receipts else message_nodes.WITHOUT_RECEIPT
        own = await self._messages(where, order, columns, limit=limit, offset=offset)
        shared = await self._read_shared(conversation_id, own, first_turn or 0, last_turn)
        if not shared:
            return own
        every = shared + await self._messages(where, "m.position", columns)
        return every[offset : None if limit is None else offset + limit]

    async def latest_messages(
        self, conversation_id: str, limit: int, with_receipts: bool = True
    ) -> list[Message]:
        where = Where().add("m.conversation_id = $id", id=conversation_id)
        columns = message_nodes.WITH_CALLS if with_receipts else message_nodes.WITHOUT_RECEIPT
        newest_first = await self._messages(
            where, "m.position DESC LIMIT $limit", columns, limit=max(limit, 0)
        )
        return await self._add_shared(conversation_id, newest_first[::-1], limit)

    async def last_receipt(self, conversation_id: str) -> Json:
        receipt = await self._database.value(_LAST_RECEIPT, id=conversation_id)
        return None if receipt is None else json.loads(receipt)

    async def recent_past(
        self, conversation_id: str, messages: int, summaries: int, stretches: int = 0
    ) -> RecentPast:
        row = await self._database.read(
            lambda tx: tx.row(
                f"""MATCH (talk:Conversation {{uuid: $id}}) WHERE {is_seen("talk")}
                    RETURN COLLECT {{
                        MATCH (m:Message) WHERE m.conversation_id = $id
                        WITH m ORDER BY m.position DESC LIMIT $messages
                        RETURN {message_nodes.WITHOUT_RECEIPT} }} AS messages,
                      COLLECT {{ {_LAST_RECEIPT} }} AS receipts,
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
            await self._add_shared(conversation_id, own, messages),
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

    async def turns(self, turn_ids: Sequence[str]) -> dict[str, list[Message]]:
        found = await self.owned_turns(turn_ids)
        return {turn: messages for turn, (_, messages) in found.items()}

    async def owned_turns(self, turn_ids: Sequence[str]) -> OwnedTurns:
        return await self._read_turns(turn_ids, message_nodes.WHOLE_TURNS)

    async def turns_before(self, turn_ids: Sequence[str]) -> dict[str, list[Message]]:
        found = await self._read_turns(turn_ids, message_nodes.TURNS_BEFORE)
        return {turn: messages for turn, (_, messages) in found.items()}

    async def _read_turns(self, turn_ids: Sequence[str], query: str) -> OwnedTurns:
        heads = f"MATCH (h:Message) WHERE h.uuid IN $ids AND h.role = 'user' AND {is_seen('h')}"
        return message_nodes.decode_turns(
            await self._database.value(f"{heads} {query}", ids=list(turn_ids))
        )

    async def conversations_of(self, message_ids: Sequence[str]) -> dict[str, str]:
        query = f"""MATCH (m:Message) WHERE m.uuid IN $ids AND {is_seen("m")}
                   RETURN m.uuid AS message, m.conversation_id AS conversation"""
        rows = await self._database.rows(query, ids=list(message_ids))
        return {row["message"]: row["conversation"] for row in rows}

    async def tool_calls(
        self,
        conversation_id: str,
        tool_name: str | None = None,
        success: bool | None = None,
        limit: int | None = None,
    ) -> list[ToolCall]:
        where = Where().add("t.tool_name = $name", name=tool_name)
        where.add("t.success = $success", success=success)
        query = f"""MATCH (m:Message {{conversation_id: $id}})-[:MADE_TOOL_CALL]->(t:ToolCall)
                    WHERE {where}
                    OPTIONAL MATCH (t)-[:PRODUCED_RESULT]->(r:ToolResult)
                    WITH m, t, r ORDER BY m.position DESC, t.position DESC
                    {"" if limit is None else "LIMIT $limit"}
                    RETURN {message_nodes.CALL} AS row"""
        rows = await self._database.read(
            lambda tx: nodes.collect(tx, conversation_id, query, limit=limit, **where.parameters)
        )
        return [message_nodes.decode_call(row) for row in rows]

    async def branch(self, message_id: str, into: Conversation) -> Conversation:
        async def work(tx: Transaction) -> Conversation:
            last = await nodes.read_message(tx, message_id)
            row = await nodes.create(tx, into)
            await copy_until(tx, last, row, self._tokeniser)
            await nodes.recount(tx, into.uuid)
            return CONVERSATION.decode(await nodes.read(tx, into.uuid))

        return await self._database.write(work)

    async def _messages(
        self, where: Where, order: str, columns: str, **parameters: Any
    ) -> list[Message]:
        query = f"""MATCH (m:Message) WHERE {where}
                    WITH m ORDER BY {order} RETURN {columns}"""
        values = {name: value for name, value in where.parameters.items() if name != "id"}
        conversation_id = where.parameters["id"]
        rows = await self._database.read(
            lambda tx: nodes.collect(tx, conversation_id, query, **values, **parameters)
        )
        return [message_nodes.decode_message(row) for row in rows]

    async def _add_shared(
        self, conversation_id: str, newest: list[Message], limit: int
    ) -> list[Message]:
        """Return the newest messages with those before them that a branch shares."""
        if len(newest) >= limit:
            return newest
        return [*await self._read_shared(conversation_id, newest), *newest][-limit:]

    async def _read_shared(
        self,
        conversation_id: str,
        own: Sequence[Message],
        first_turn: int = 0,
        last_turn: int | None = None,
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
