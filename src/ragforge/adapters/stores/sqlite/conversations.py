"""Conversations in SQLite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from ragforge.adapters.stores.sqlite import conversation_rows, summary_rows
from ragforge.adapters.stores.sqlite import messages as message_rows
from ragforge.adapters.stores.sqlite.branching import add_parts, copy_until, find_parts
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.references import References
from ragforge.adapters.stores.sqlite.sql import (
    Where,
    as_json,
    insert,
    read_row,
    select,
    select_value,
)
from ragforge.adapters.stores.sqlite.viewers import (
    check_own,
)
from ragforge.domain.conversations import (
    Conversation,
    Message,
    ToolCall,
)
from ragforge.domain.kinds import Row
from ragforge.domain.rows import encode_message
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.text import Json
from ragforge.domain.turns import StoredTurn
from ragforge.ports.conversations import RecentPast
from ragforge.ports.words import Tokeniser

if TYPE_CHECKING:
    pass


_LAST_RECEIPT = """SELECT receipt FROM message WHERE conversation_id = ? AND receipt IS NOT NULL
                   ORDER BY position DESC LIMIT 1"""


class SqliteConversations(References):
    """Keeps the promises of `ConversationStore`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def append(self, conversation_id: str, messages: Sequence[Message]) -> list[Message]:
        encoded = [encode_message(message, self._database.redactor) for message in messages]

        def work(connection: apsw.Connection) -> list[Message]:
            row = self._check_own(connection, conversation_id)
            placed = message_rows.add(connection, row, encoded, self._tokeniser)
            conversation_rows.count(connection, conversation_id, placed)
            return placed

        return await self._database.write(work)

    async def finish_calls(self, message_id: str, calls: Sequence[ToolCall]) -> Message:
        def work(connection: apsw.Connection) -> Message:
            row = message_rows.read_row(connection, message_id, self._database.viewer)
            self._check_own(connection, row["conversation_id"])
            done = message_rows.finish_calls(
                connection, row, calls, self._database.redactor, self._tokeniser
            )
            connection.execute(
                "UPDATE conversation SET total_chars = total_chars + ? WHERE uuid = ?",
                (done.char_count - row["char_count"], row["conversation_id"]),
            )
            return done

        return await self._database.write(work)

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
            read_row(connection, CONVERSATION, conversation_id)
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
            read_row(connection, CONVERSATION, conversation_id)
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
            read_row(connection, CONVERSATION, conversation_id)
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

    async def turns(self, turn_ids: Sequence[str], back: int = 0) -> dict[str, StoredTurn]:
        return await self._database.read(lambda c: message_rows.read_turns(c, turn_ids, back))

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
            read_row(connection, CONVERSATION, conversation_id)
            return message_rows.read_calls(connection, conversation_id, tool_name, success, limit)

        return await self._database.read(work)

    async def branch(self, message_id: str, into: Conversation) -> Conversation:
        new = conversation_rows.encode_new(into, self._database.redactor)

        def work(connection: apsw.Connection) -> Conversation:
            source = message_rows.read_row(connection, message_id, self._database.viewer)
            insert(connection, "conversation", new)
            copy_until(
                connection, source, read_row(connection, CONVERSATION, into.uuid), self._tokeniser
            )
            conversation_rows.recount(connection, into.uuid)
            return CONVERSATION.decode(read_row(connection, CONVERSATION, into.uuid))

        return await self._database.write(work)

    def _check_own(self, connection: apsw.Connection, conversation_id: str) -> Row:
        return check_own(connection, self._database.viewer, CONVERSATION, conversation_id)


def _read_newest(
    connection: apsw.Connection, conversation_id: str, columns: str, limit: int
) -> list[Message]:
    """Return the newest messages of a conversation, oldest of them first."""
    where = add_parts(Where(), "m", find_parts(connection, conversation_id))
    statement = f"SELECT {columns} FROM message m WHERE {where} ORDER BY position DESC LIMIT ?"
    rows = select(connection, statement, (*where.bindings, max(limit, 0)))
    return message_rows.load(connection, list(rows)[::-1])
