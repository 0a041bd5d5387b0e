"""Conversations in SQLite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw

from ragforge.adapters.stores.rows import CONVERSATION
from ragforge.adapters.stores.sqlite import conversation_rows, summary_rows
from ragforge.adapters.stores.sqlite import messages as message_rows
from ragforge.adapters.stores.sqlite.branching import add_parts, copy_until, find_parts
from ragforge.adapters.stores.sqlite.forgotten import forget
from ragforge.adapters.stores.sqlite.recall import TurnSearch
from ragforge.adapters.stores.sqlite.references import References
from ragforge.adapters.stores.sqlite.sql import (
    Where,
    as_json,
    insert,
    select,
    select_value,
    upsert,
)
from ragforge.adapters.stores.sqlite.viewers import (
    check_own,
)
from ragforge.domain.authors import AGENT
from ragforge.domain.conversations import (
    Conversation,
    ConversationChanges,
    ConversationFilter,
    Message,
    ToolCall,
    apply_changes,
)
from ragforge.domain.text import MAX_ID_CHARS, Json, check_text
from ragforge.ports.conversations import OwnedTurns, RecentPast

if TYPE_CHECKING:
    pass


_LAST_RECEIPT = """SELECT receipt FROM message WHERE conversation_id = ? AND receipt IS NOT NULL
                   ORDER BY position DESC LIMIT 1"""


class SqliteConversations(TurnSearch, References):
    """Keeps the promises of `ConversationStore`."""

    async def create(self, conversation: Conversation) -> None:
        row = CONVERSATION.encode(
            replace(conversation, message_count=0, turn_count=0, total_chars=0)
        )
        await self._database.write(lambda c: insert(c, "conversation", row))

    async def get(self, conversation_id: str) -> Conversation:
        row = await self._database.read(lambda c: conversation_rows.read(c, conversation_id))
        return CONVERSATION.decode(row)

    async def starting_with(self, prefix: str, limit: int = 10) -> list[Conversation]:
        check_text("prefix", prefix)
        # The bounds let the index find them; an id may hold any character after the prefix.
        statement = """
            SELECT * FROM conversation WHERE uuid >= :prefix AND uuid < :prefix || :last
              AND substr(uuid, 1, length(:prefix)) = :prefix
            ORDER BY uuid LIMIT :limit"""
        bindings = {"prefix": prefix, "last": _LAST * MAX_ID_CHARS, "limit": limit}
        return await self._database.read(
            lambda c: [CONVERSATION.decode(row) for row in select(c, statement, bindings)]
        )

    async def find(
        self, where: ConversationFilter, limit: int = 50, offset: int = 0
    ) -> list[Conversation]:
        conditions = self._make_filter(where)
        statement = f"""
            SELECT * FROM conversation o WHERE {conditions}
            ORDER BY updated_ms DESC, uuid LIMIT ? OFFSET ?
        """
        bindings = (*conditions.bindings, limit, offset)
        return await self._database.read(
            lambda c: [CONVERSATION.decode(row) for row in select(c, statement, bindings)]
        )

    async def update(
        self, conversation_id: str, changes: ConversationChanges, force: bool = False
    ) -> Conversation:
        def work(connection: apsw.Connection) -> Conversation:
            self._check_own(connection, conversation_id, force)
            result = apply_changes(
                CONVERSATION.decode(conversation_rows.read(connection, conversation_id)), changes
            )
            row = CONVERSATION.encode(result)
            upsert(connection, "conversation", row, ["uuid"])
            if changes.visibility is not None:
                conversation_rows.set_visibility(connection, row)
            return result

        return await self._database.write(work)

    async def delete(self, conversation_id: str, force: bool = False) -> None:
        def work(connection: apsw.Connection) -> None:
            self._check_own(connection, conversation_id, force)
            if conversation_rows.read(connection, conversation_id)["agent"] != AGENT:
                forget(connection, conversation_id, self._database.viewer)
            connection.execute("DELETE FROM conversation WHERE uuid = ?", (conversation_id,))

        await self._database.write(work)

    async def append(self, conversation_id: str, messages: Sequence[Message]) -> list[Message]:
        def work(connection: apsw.Connection) -> list[Message]:
            self._check_own(connection, conversation_id)
            row = conversation_rows.read(connection, conversation_id)
            placed = message_rows.add(connection, row, messages, self._tokeniser)
            conversation_rows.count(connection, conversation_id, placed)
            return placed

        return await self._database.write(work)

    async def finish_calls(self, message_id: str, calls: Sequence[ToolCall]) -> Message:
        def work(connection: apsw.Connection) -> Message:
            row = message_rows.read_row(connection, message_id, self._database.viewer)
            self._check_own(connection, row["conversation_id"])
            done = message_rows.finish_calls(connection, row, calls, self._tokeniser)
            connection.execute(
                "UPDATE conversation SET total_chars = total_chars + ? WHERE uuid = ?",
                (done.char_count - row["char_count"], row["conversation_id"]),
            )
            return done

        return await self._database.write(work)

    async def message(self, message_id: str) -> Message:
        def work(connection: apsw.Connection) -> Message:
            return message_rows.load(connection, [message_rows.read_row(connection, message_id)])[0]

        return await self._database.read(work)

    async def messages(
        self,
        conversation_id: str,
        first_turn: int | None = None,
        last_turn: int | None = None,
        limit: int | None = None,
        offset: int = 0,
        with_receipts: bool = True,
    ) -> list[Message]:
        columns = "m.*" if with_receipts else message_rows.WITHOUT_RECEIPT
        order = "ORDER BY position LIMIT ? OFFSET ?"

        def work(connection: apsw.Connection) -> list[Message]:
            conversation_rows.read(connection, conversation_id)
            where = add_parts(Where(), "m", find_parts(connection, conversation_id))
            where.add("turn_index >= ?", first_turn).add("turn_index <= ?", last_turn)
            statement = f"SELECT {columns} FROM message m WHERE {where} {order}"
            bindings = (*where.bindings, -1 if limit is None else limit, offset)
            return message_rows.load(connection, list(select(connection, statement, bindings)))

        return await self._database.read(work)

    async def latest_messages(
        self, conversation_id: str, limit: int, with_receipts: bool = True
    ) -> list[Message]:
        columns = "m.*" if with_receipts else message_rows.WITHOUT_RECEIPT

        def work(connection: apsw.Connection) -> list[Message]:
            conversation_rows.read(connection, conversation_id)
            return _read_newest(connection, conversation_id, columns, limit)

        return await self._database.read(work)

    async def last_receipt(self, conversation_id: str) -> Json:
        text = await self._database.read(
            lambda c: select_value(c, _LAST_RECEIPT, (conversation_id,))
        )
        return None if text is None else json.loads(text)

    async def recent_past(
        self, conversation_id: str, messages: int, summaries: int, stretches: int = 0
    ) -> RecentPast:
        columns = message_rows.WITHOUT_RECEIPT

        def work(connection: apsw.Connection) -> RecentPast:
            conversation_rows.read(connection, conversation_id)
            receipt = select_value(connection, _LAST_RECEIPT, (conversation_id,))
            return RecentPast(
                _read_newest(connection, conversation_id, columns, messages),
                None if receipt is None else json.loads(receipt),
                summary_rows.read_outermost(connection, conversation_id, max(summaries, 0)),
                summary_rows.read_stretches(connection, conversation_id, max(stretches, 0)),
            )

        return await self._database.read(work)

    async def last_texts(self, conversation_ids: Sequence[str]) -> dict[str, str]:
        statement = """SELECT m.conversation_id, m.content FROM json_each(?) AS wanted
                       JOIN message m ON m.conversation_id = wanted.value
                       WHERE m.position = (SELECT max(position) FROM message
                                           WHERE conversation_id = wanted.value)"""
        ids = as_json(conversation_ids)
        return await self._database.read(lambda c: dict(c.execute(statement, (ids,))))

    async def turns(self, turn_ids: Sequence[str]) -> dict[str, list[Message]]:
        owned = await self.owned_turns(turn_ids)
        return {turn: messages for turn, (_, messages) in owned.items()}

    async def owned_turns(self, turn_ids: Sequence[str]) -> OwnedTurns:
        return await self._database.read(lambda c: message_rows.read_turns(c, turn_ids))

    async def turns_before(self, turn_ids: Sequence[str]) -> dict[str, list[Message]]:
        found = await self._database.read(lambda c: message_rows.read_turns(c, turn_ids, 1))
        return {turn: messages for turn, (_, messages) in found.items()}

    async def conversations_of(self, message_ids: Sequence[str]) -> dict[str, str]:
        statement = """SELECT uuid, conversation_id FROM message
                       WHERE uuid IN (SELECT value FROM json_each(?))"""
        ids = as_json(message_ids)
        return await self._database.read(lambda c: dict(c.execute(statement, (ids,))))

    async def tool_calls(
        self,
        conversation_id: str,
        tool_name: str | None = None,
        success: bool | None = None,
        limit: int | None = None,
    ) -> list[ToolCall]:
        def work(connection: apsw.Connection) -> list[ToolCall]:
            conversation_rows.read(connection, conversation_id)
            return message_rows.read_calls(connection, conversation_id, tool_name, success, limit)

        return await self._database.read(work)

    async def branch(self, message_id: str, into: Conversation) -> Conversation:
        def work(connection: apsw.Connection) -> Conversation:
            source = message_rows.read_row(connection, message_id, self._database.viewer)
            empty = replace(into, message_count=0, turn_count=0, total_chars=0)
            insert(connection, "conversation", CONVERSATION.encode(empty))
            copy_until(
                connection, source, conversation_rows.read(connection, into.uuid), self._tokeniser
            )
            conversation_rows.recount(connection, into.uuid)
            return CONVERSATION.decode(conversation_rows.read(connection, into.uuid))

        return await self._database.write(work)

    def _check_own(
        self, connection: apsw.Connection, conversation_id: str, force: bool = False
    ) -> None:
        check_own(connection, self._database.viewer, "conversation", conversation_id, force)


def _read_newest(
    connection: apsw.Connection, conversation_id: str, columns: str, limit: int
) -> list[Message]:
    """Return the newest messages of a conversation, oldest of them first."""
    where = add_parts(Where(), "m", find_parts(connection, conversation_id))
    statement = f"SELECT {columns} FROM message m WHERE {where} ORDER BY position DESC LIMIT ?"
    rows = select(connection, statement, (*where.bindings, max(limit, 0)))
    return message_rows.load(connection, list(rows)[::-1])


_LAST = "\U0010ffff"
"""Sorts after every other character."""
